package fetch

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/gzip"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tgz is an archive with these members.
func tgz(t *testing.T, members map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range members {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// place is a registry of one archive, a cache and an npm that copies from the one
// to the working directory it is given, one line in calls each time.
type place struct {
	pkg                     Package
	cache, calls, bin, file string
}

const npmCopies = `while [ "$1" != --pack-destination ]; do shift; done
echo called >> "$CALLS"; cp "$ARCHIVE" "$2/"`

func newPlace(t *testing.T, archive []byte, script string) place {
	t.Helper()
	dir := t.TempDir()
	p := place{cache: filepath.Join(dir, "cache"), calls: filepath.Join(dir, "calls"), bin: filepath.Join(dir, "bin")}
	sum := sha512.Sum512(archive)
	p.pkg = Package{
		Name: "thing", Version: "1.2.3", File: "thing.so", Env: "THING_PATH", NPM: "@scope/thing", Member: "package/thing.so",
		Integrity: map[string]string{runtime.GOOS + "/" + runtime.GOARCH: base64.StdEncoding.EncodeToString(sum[:])},
	}
	p.file = filepath.Join(dir, p.pkg.archive())
	for name, text := range map[string][]byte{p.file: archive, filepath.Join(p.bin, "npm"): []byte("#!/bin/sh\n" + script + "\n")} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("SEXTANT_CACHE", p.cache)
	t.Setenv("ARCHIVE", p.file)
	t.Setenv("CALLS", p.calls)
	t.Setenv("THING_PATH", "")
	t.Setenv("PATH", p.bin+":/usr/bin:/bin")
	return p
}

func (p place) called(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile(p.calls)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return bytes.Count(b, []byte("\n"))
}

// left is what the cache holds besides the package and its lock.
func (p place) left(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(p.cache)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != p.pkg.dir() && e.Name() != p.pkg.dir()+".lock" {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestFetchOnceThenOffline(t *testing.T) {
	p := newPlace(t, tgz(t, map[string]string{"package/other": "no", "package/thing.so": "the thing"}), npmCopies)
	// What a killed process left is cleared away.
	if err := os.MkdirAll(filepath.Join(p.cache, p.pkg.dir()+".partial-1"), 0o755); err != nil {
		t.Fatal(err)
	}
	path, err := p.pkg.Get(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(p.cache, "thing-1.2.3", "thing.so"); path != want {
		t.Errorf("path %s, want %s", path, want)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "the thing" {
		t.Errorf("file %q, %v", b, err)
	}
	if left := p.left(t); len(left) > 0 {
		t.Errorf("the cache also holds %v", left)
	}
	t.Setenv("PATH", "") // no npm any more
	again, err := p.pkg.Get(t.Context(), nil)
	if err != nil || again != path {
		t.Errorf("offline: %s, %v", again, err)
	}
	if n := p.called(t); n != 1 {
		t.Errorf("npm ran %d times", n)
	}
}

func TestOthersWait(t *testing.T) {
	p := newPlace(t, tgz(t, map[string]string{"package/thing.so": "the thing"}), npmCopies)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := p.pkg.Get(t.Context(), nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := p.called(t); n != 1 {
		t.Errorf("npm ran %d times", n)
	}
}

func TestBroughtByHand(t *testing.T) {
	p := newPlace(t, tgz(t, map[string]string{"package/thing.so": "the thing"}), "exit 1")
	if err := os.MkdirAll(p.cache, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(p.file, filepath.Join(p.cache, p.pkg.archive())); err != nil {
		t.Fatal(err)
	}
	if _, err := p.pkg.Get(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

func TestFaults(t *testing.T) {
	good := map[string]string{"package/thing.so": "the thing"}
	for name, c := range map[string]struct {
		members map[string]string
		script  string
		change  func(*place)
		want    []string // parts of the error
	}{
		"checksum": {good, npmCopies, func(p *place) {
			p.pkg.Integrity = map[string]string{runtime.GOOS + "/" + runtime.GOARCH: "AAAA"}
		}, []string{"fetch thing 1.2.3", "want AAAA", "not the pinned file"}},
		"cut in transfer":   {good, npmCopies + ` && truncate -s -20 "$2/"*.tgz`, nil, []string{"not the pinned file"}},
		"no such member":    {map[string]string{"package/else": "x"}, npmCopies, nil, []string{"has no package/thing.so"}},
		"npm fails":         {good, "echo E404 not in this registry >&2; exit 1", nil, []string{"npm pack @scope/thing@1.2.3", "E404 not in this registry"}},
		"npm gives nothing": {good, "exit 0", nil, []string{"scope-thing-1.2.3.tgz", "no such file"}},
		"no npm": {good, "", func(p *place) { os.Remove(filepath.Join(p.bin, "npm")); t.Setenv("PATH", p.bin) },
			[]string{"npm is not installed", "npm pack @scope/thing@1.2.3", "scope-thing-1.2.3.tgz", "$THING_PATH"}},
		"other platform":     {good, npmCopies, func(p *place) { p.pkg.Integrity = nil }, []string{"no version is pinned for", "$THING_PATH"}},
		"variable is wrong":  {good, npmCopies, func(p *place) { t.Setenv("THING_PATH", "/nowhere/thing.so") }, []string{"$THING_PATH", "/nowhere/thing.so"}},
		"variable is a dir":  {good, npmCopies, func(p *place) { t.Setenv("THING_PATH", p.bin) }, []string{"$THING_PATH", "is not a file"}},
		"cache is no folder": {good, npmCopies, func(p *place) { t.Setenv("SEXTANT_CACHE", p.file) }, []string{"not a directory"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, tgz(t, c.members), c.script)
			if c.change != nil {
				c.change(&p)
			}
			_, err := p.pkg.Get(t.Context(), nil)
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q has no %q", err, part)
				}
			}
			if _, err := os.Stat(p.cache); err == nil {
				if left := p.left(t); len(left) > 0 {
					t.Errorf("the cache still holds %v", left)
				}
			}
		})
	}
}

func TestVariableWins(t *testing.T) {
	p := newPlace(t, tgz(t, map[string]string{"package/thing.so": "the thing"}), npmCopies)
	t.Setenv("THING_PATH", p.file)
	if path, err := p.pkg.Get(t.Context(), nil); err != nil || path != p.file {
		t.Errorf("%s, %v", path, err)
	}
	if n := p.called(t); n != 0 {
		t.Errorf("npm ran %d times", n)
	}
}

// An interrupt ends npm's children too, and leaves nothing behind.
func TestInterrupt(t *testing.T) {
	p := newPlace(t, tgz(t, map[string]string{"package/thing.so": "the thing"}), `echo called >> "$CALLS"; sleep 600; true`)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := p.pkg.Get(ctx, nil)
		ended <- err
	}()
	for deadline := time.Now().Add(20 * time.Second); p.called(t) == 0; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("npm was not started")
		}
	}
	cancel()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
			t.Errorf("error %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("still running")
	}
	if left := p.left(t); len(left) > 0 {
		t.Errorf("the cache still holds %v", left)
	}
}

func TestReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "growing")
		var b bytes.Buffer
		r := newReport(&b)
		r.step("check", "this", "")
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		if b.Len() > 0 {
			t.Errorf("told %q before two seconds", b.String())
		}
		r.step("download", "that", file)
		time.Sleep(time.Second)
		synctest.Wait()
		if err := os.WriteFile(file, make([]byte, 3_500_000), 0o644); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		r.stop()
		if want := "download that: 0 s\ndownload that: 10 s, 3 MB\n"; b.String() != want {
			t.Errorf("told %q, want %q", b.String(), want)
		}
	})
}

func TestCacheDir(t *testing.T) {
	t.Setenv("SEXTANT_CACHE", "")
	t.Setenv("XDG_CACHE_HOME", "/somewhere")
	if dir, err := CacheDir(); err != nil || dir != "/somewhere/sextant" {
		t.Errorf("%s, %v", dir, err)
	}
}

func ExamplePackage() {
	fmt.Println(chdb.dir(), chdb.archive())
	// Output: chdb-26.7.3-stable.1 chdb-lib-linux-x64-gnu-26.7.3-stable.1.tgz
}
