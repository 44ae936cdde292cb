package clickhouse

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go/compress"
)

func framed(t testing.TB, m compress.Method, blocks ...string) []byte {
	t.Helper()
	var b []byte
	w := compress.NewWriter(compress.LevelZero, m)
	for _, block := range blocks {
		if err := w.Compress([]byte(block)); err != nil {
			t.Fatal(err)
		}
		b = append(b, w.Data...)
	}
	return b
}

func TestUnframe(t *testing.T) {
	long := strings.Repeat("abc", 1<<20)
	for name, m := range map[string]compress.Method{"none": compress.None, "lz4": compress.LZ4, "lz4hc": compress.LZ4HC, "zstd": compress.ZSTD} {
		body := framed(t, m, "one", long, "two")
		f := newUnframer(bytes.NewReader(body))
		if got, err := io.ReadAll(f); err != nil || string(got) != "one"+long+"two" {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		f.release()
		for cut := range min(len(body), 200) {
			// Only behind a whole frame is the end an end.
			f := newUnframer(bytes.NewReader(body[:cut]))
			got, err := io.ReadAll(f)
			f.release()
			if whole := cut == 0 || cut == len(framed(t, m, "one")); (err == nil) != whole {
				t.Errorf("%s cut at %d: %q, %v", name, cut, got, err)
			}
		}
	}
	broken := framed(t, compress.LZ4, "one")
	broken[len(broken)-1] ^= 1
	claims := framed(t, compress.LZ4, "one")
	binary.LittleEndian.PutUint32(claims[checksumSize+1:], 1<<30)
	for name, body := range map[string][]byte{"a flipped bit": broken, "a huge claim": claims} {
		if _, err := io.ReadAll(newUnframer(bytes.NewReader(body))); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Whatever comes in, ch-go's reader and this one agree on what whole frames hold.
func FuzzUnframe(f *testing.F) {
	f.Add(framed(f, compress.LZ4, "one", "two"))
	f.Add(framed(f, compress.ZSTD, "one"))
	f.Add(framed(f, compress.None, "one"))
	f.Add([]byte("not a frame at all, but long enough"))
	f.Fuzz(func(t *testing.T, body []byte) {
		u := newUnframer(bytes.NewReader(body))
		defer u.release()
		got, err := io.ReadAll(u)
		if err != nil {
			return
		}
		want, other := io.ReadAll(compress.NewReader(bytes.NewReader(body)))
		if !errors.Is(other, io.EOF) || !bytes.Equal(got, want) {
			t.Errorf("got %q; ch-go says %q, %v", got, want, other)
		}
	})
}
