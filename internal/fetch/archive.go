package fetch

import (
	"archive/tar"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/klauspost/compress/gzip"
)

// maxFile bounds what is unpacked: a file of this size is not one that was pinned.
const maxFile = 4 << 30

// verify compares the file's sha512 with want, in base64.
func verify(ctx context.Context, name, want string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha512.New()
	if _, err := io.Copy(h, reader{ctx, f}); err != nil {
		return err
	}
	if got := base64.StdEncoding.EncodeToString(h.Sum(nil)); got != want {
		return fmt.Errorf("%s: sha512 is %s, want %s: not the pinned file", name, got, want)
	}
	return nil
}

// unpack writes one member of a .tgz to file.
func unpack(ctx context.Context, archive, member, file string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(reader{ctx, f})
	if err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	defer z.Close()
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err == io.EOF {
			return fmt.Errorf("%s: has no %s", archive, member)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", archive, err)
		}
		if path.Clean(h.Name) != member || h.Typeflag != tar.TypeReg {
			continue
		}
		if h.Size > maxFile {
			return fmt.Errorf("%s: %s has %d bytes, more than %d", archive, member, h.Size, int64(maxFile))
		}
		return write(file, t)
	}
}

// write makes the file's bytes durable before it returns: after a rename a crash
// of the machine must not leave a file of the right name with a hole in it.
func write(name string, from io.Reader) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, from); err != nil {
		f.Close()
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return fmt.Errorf("write %s: %w", name, err)
	}
	return f.Close()
}

// reader ends when its context does.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
