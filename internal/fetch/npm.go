package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// npm downloads the package's archive into dir.
func (p Package) npm(ctx context.Context, dir, cache string) error {
	name := p.NPM + "@" + p.Version
	path, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("npm is not installed. Install it (it comes with Node.js); or run \"npm pack %s\" on another machine and copy %s into %s; or set $%s to the path of a %s",
			name, p.archive(), cache, p.Env, p.File)
	}
	cmd := exec.CommandContext(ctx, path, "pack", name, "--pack-destination", dir, "--ignore-scripts", "--loglevel=error")
	cmd.Dir = dir // no package.json or .npmrc of a working directory takes part
	cmd.Env = append(os.Environ(), "npm_config_update_notifier=false")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	// npm is a script that starts node: an interrupt goes to the whole group.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		return errors.Join(ctx.Err(), fmt.Errorf("npm pack %s: %w: %s", name, err, tail(stderr.String())))
	}
	if err := regular(filepath.Join(dir, p.archive())); err != nil {
		return fmt.Errorf("npm pack %s: %w", name, err)
	}
	return nil
}

// tail is the end of a program's output, on one line.
func tail(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return s[max(0, len(s)-500):]
}
