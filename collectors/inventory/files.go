package inventory

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// tree is a root of the kernel's files, or of a copy of them.
type tree string

// maxFile bounds what is read of one file.
const maxFile = 256 << 10

func (t tree) path(parts ...string) string {
	return filepath.Join(append([]string{string(t)}, parts...)...)
}

// text is a small file's content without blanks around it. A file that is missing, or
// that the kernel has no answer for (the speed of a port without a cable), is "".
func (t tree) text(parts ...string) string {
	f, err := os.Open(t.path(parts...))
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 4<<10))
	if err != nil {
		return ""
	}
	return strings.ToValidUTF8(strings.TrimSpace(strings.Trim(string(b), "\x00")), "�")
}

// number is a decimal file's value, -1 when there is none.
func (t tree) number(parts ...string) int64 {
	n, err := strconv.ParseInt(t.text(parts...), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// count is number, with 0 for what is missing or negative.
func (t tree) count(parts ...string) uint64 { return uint64(max(t.number(parts...), 0)) }

// hex is a file's value as the kernel writes ids: 0x and digits. It is 0 when there is
// none.
func (t tree) hex(parts ...string) uint64 {
	n, _ := strconv.ParseUint(strings.TrimPrefix(t.text(parts...), "0x"), 16, 64)
	return n
}

// names lists a directory in order; nothing when it is missing.
func (t tree) names(parts ...string) ([]string, error) {
	entries, err := os.ReadDir(t.path(parts...))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	out := make([]string, 0, len(entries))
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out, nil
}

// resolve follows every link of a path. It is "" for one that does not exist.
func (t tree) resolve(parts ...string) string {
	p, err := filepath.EvalSymlinks(t.path(parts...))
	if err != nil {
		return ""
	}
	return p
}

// exists says whether there is such a file or folder.
func (t tree) exists(parts ...string) bool {
	_, err := os.Stat(t.path(parts...))
	return err == nil
}

// pairs reads lines of a key, sep and a value, up to the first blank line if block is
// set. Of a key that comes again the first stays.
func (t tree) pairs(sep string, block bool, parts ...string) (map[string]string, error) {
	f, err := os.Open(t.path(parts...))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[string]string{}
	s := bufio.NewScanner(io.LimitReader(f, maxFile))
	s.Buffer(nil, maxFile)
	for s.Scan() {
		if strings.TrimSpace(s.Text()) == "" && block && len(out) > 0 {
			break
		}
		k, v, ok := strings.Cut(s.Text(), sep)
		if k = strings.TrimSpace(k); ok && out[k] == "" {
			out[k] = strings.ToValidUTF8(strings.TrimSpace(v), "�")
		}
	}
	return out, s.Err()
}
