// Package fetch gets files that are too large or too foreign for the repository:
// pinned versions, checked against a checksum, kept in a cache and used from there
// without a network. The clients are those of the registries (npm), so a mirror or
// a proxy that they are set up for is used here too.
package fetch

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Package is one file of one pinned package. A new one is a new row.
type Package struct {
	Name    string // also the cache directory's, with the version
	Version string
	File    string // name in the cache
	Env     string // environment variable with a path that is used instead

	NPM       string            // package name for npm
	Integrity map[string]string // GOOS/GOARCH → sha512 of the archive, in base64 as npm states it
	Member    string            // path inside of the archive
}

// chdb is the engine of ClickHouse as a library.
var chdb = Package{
	Name: "chdb", Version: "26.7.3-stable.1", File: "libchdb.so", Env: "CHDB_LIB_PATH",
	NPM:    "@chdb/lib-linux-x64-gnu",
	Member: "package/libchdb.so",
	Integrity: map[string]string{
		"linux/amd64": "XP97mMqnc5tZpKQywR8N7cLTsHNiTmHr30pC5mzo3jWmukjKn2IBa60c2B/gWUNcuFjOMjWoorQICCqBVj5wpw==",
	},
}

// Chdb gives the path of libchdb.so: $CHDB_LIB_PATH, or the pinned version from
// the cache, or from npm into the cache. What takes longer than two seconds is
// told on progress, which may be nil.
func Chdb(ctx context.Context, progress io.Writer) (string, error) {
	return chdb.Get(ctx, progress)
}

// CacheDir is where downloads are kept: $SEXTANT_CACHE, or sextant in the user's
// cache directory. It need not exist.
func CacheDir() (string, error) {
	if dir := os.Getenv("SEXTANT_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("cache directory: %w (or set SEXTANT_CACHE)", err)
	}
	return filepath.Join(dir, "sextant"), nil
}

// Get gives the path of p's file. Processes that call it at the same time fetch it once.
func (p Package) Get(ctx context.Context, progress io.Writer) (string, error) {
	path, err := p.get(ctx, progress)
	if err != nil {
		return "", fmt.Errorf("fetch %s %s: %w", p.Name, p.Version, err)
	}
	return path, nil
}

func (p Package) get(ctx context.Context, progress io.Writer) (string, error) {
	if path := os.Getenv(p.Env); path != "" {
		if err := regular(path); err != nil {
			return "", fmt.Errorf("$%s: %w", p.Env, err)
		}
		return path, nil
	}
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache, p.dir(), p.File)
	if regular(path) == nil {
		return path, nil
	}
	platform := runtime.GOOS + "/" + runtime.GOARCH
	want, ok := p.Integrity[platform]
	if !ok {
		return "", fmt.Errorf("no version is pinned for %s: set $%s to the path of a %s", platform, p.Env, p.File)
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	report := newReport(progress)
	defer report.stop()
	unlock, err := lock(ctx, filepath.Join(cache, p.dir()+".lock"), report)
	if err != nil {
		return "", err
	}
	defer unlock()
	if regular(path) == nil { // another process was faster
		return path, nil
	}
	return path, p.install(ctx, cache, want, report)
}

func (p Package) dir() string { return p.Name + "-" + p.Version }

// archive is the name that npm gives the package's archive.
func (p Package) archive() string {
	return strings.ReplaceAll(strings.TrimPrefix(p.NPM, "@"), "/", "-") + "-" + p.Version + ".tgz"
}

// install fetches, checks and unpacks below the cache; under the lock. The file
// gets its place by one rename, so it is there whole or not at all.
func (p Package) install(ctx context.Context, cache, want string, report *report) error {
	leftovers, err := filepath.Glob(filepath.Join(cache, p.dir()+".partial-*"))
	if err != nil {
		return err
	}
	for _, old := range leftovers { // of a process that was killed
		if err := os.RemoveAll(old); err != nil {
			return err
		}
	}
	work, err := os.MkdirTemp(cache, p.dir()+".partial-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)

	archive := filepath.Join(cache, p.archive()) // brought by hand
	if regular(archive) != nil {
		archive = filepath.Join(work, p.archive())
		report.step("download", p.NPM+"@"+p.Version, archive)
		if err := p.npm(ctx, work, cache); err != nil {
			return err
		}
	}
	report.step("check", p.archive(), "")
	if err := verify(ctx, archive, want); err != nil {
		return err
	}
	file := filepath.Join(work, p.File)
	report.step("unpack", p.File, file)
	if err := unpack(ctx, archive, p.Member, file); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(cache, p.dir()), 0o755); err != nil {
		return err
	}
	return os.Rename(file, filepath.Join(cache, p.dir(), p.File))
}

func regular(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", path)
	}
	return nil
}
