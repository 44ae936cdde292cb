package spool

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrLocked is returned by Open while another process holds the directory.
var ErrLocked = errors.New("spool is in use")

// lockDir takes the directory's lock, which the kernel gives back when the process dies.
func lockDir(dir string) (*os.File, error) {
	path := filepath.Join(dir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, fmt.Errorf("lock spool: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		holder, _ := os.ReadFile(path)
		f.Close()
		return nil, fmt.Errorf("%w: %s is held by process %s", ErrLocked, dir, pidOf(holder))
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	// The pid only serves the message above: a full disk must not keep the agent down.
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	}
	return f, nil
}

func pidOf(lock []byte) string {
	pid := strings.TrimSpace(string(lock))
	if pid == "" || len(pid) > 10 || strings.Trim(pid, "0123456789") != "" {
		return "unknown"
	}
	return pid
}

func newAgentID() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// agentID reads the directory's agent id, or mints one. A lost or damaged file is replaced
// from the segments, which carry the id too.
func agentID(dir string, segs []*segment) (id string, minted bool, err error) {
	path := filepath.Join(dir, "agent")
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", false, fmt.Errorf("read agent id: %w", err)
	}
	id = strings.TrimSpace(string(b))
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != 8 {
		id = ""
	}
	for _, s := range segs {
		of, err := segmentAgent(s.path)
		switch {
		case err != nil:
			return "", false, fmt.Errorf("read agent id: %w", err)
		case of != "" && id == "":
			id, minted = of, true
		case of != "" && of != id:
			return "", false, fmt.Errorf("segment %s belongs to agent %s, this spool to agent %s", s.path, of, id)
		}
	}
	if id != "" && !minted {
		return id, false, nil
	}
	if id == "" {
		id = newAgentID()
	}
	f, err := replaceFile(path, []byte(id+"\n"), true)
	if err != nil {
		return "", false, fmt.Errorf("write agent id: %w", err)
	}
	return id, true, f.Close()
}

// replaceFile makes path hold b, or leaves it as it was, whatever happens in between; with
// durable this includes the loss of power. The open file is positioned behind b.
func replaceFile(path string, b []byte, durable bool) (*os.File, error) {
	f, err := os.OpenFile(path+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o640)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(b)
	if err == nil && durable {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err == nil && durable {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		f.Close()
		os.Remove(path + ".new") // on a full disk its bytes count
		return nil, err
	}
	return f, nil
}

// syncDir makes the names in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
