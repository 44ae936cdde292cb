package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const prometheus = "github.com/prometheus/prometheus"

// buildAgent builds the agent from the module's source.
func buildAgent(ctx context.Context, o Options, progress io.Writer) (string, error) {
	if o.Agent != "" {
		return o.Agent, nil
	}
	path := filepath.Join(o.CacheDir, "bench", "sextant-agent")
	return path, goBuild(ctx, progress, o.Module, path, "./cmd/sextant-agent")
}

func buildPrometheus(ctx context.Context, o Options, progress io.Writer) (string, error) {
	return buildUpstream(ctx, o, "prometheus", progress)
}

// buildUpstream builds a program of Prometheus (prometheus, promtool) at the version of the module, with the versions of its
// go.mod, in a module beside it: its other dependencies do not belong into ours. Service
// discovery is left out but for files, which makes the build and the program smaller.
func buildUpstream(ctx context.Context, o Options, program string, progress io.Writer) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-C", o.Module, "-m", "-f", "{{.Version}}", prometheus).Output()
	if err != nil {
		return "", fmt.Errorf("version of %s: %w", prometheus, withOutput(err))
	}
	dir := filepath.Join(o.CacheDir, "prometheus-"+strings.TrimPrefix(strings.TrimSpace(string(out)), "v"))
	path := filepath.Join(dir, program)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	src := filepath.Join(dir, "src")
	if err := os.MkdirAll(src, 0o750); err != nil {
		return "", err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		b, err := os.ReadFile(filepath.Join(o.Module, name))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(src, name), b, 0o640); err != nil {
			return "", err
		}
	}
	fmt.Fprintf(progress, "building %s of %s, once: this takes minutes\n", program, filepath.Base(dir))
	if err := goBuild(ctx, progress, src, path+".new", "-mod=mod", "-tags=netgo,remove_all_sd,enable_file_sd", prometheus+"/cmd/"+program); err != nil {
		return "", err
	}
	return path, os.Rename(path+".new", path)
}

func goBuild(ctx context.Context, progress io.Writer, dir, out string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-C", dir, "-trimpath", "-ldflags=-s -w", "-o", out}, args...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	cmd.Stdout, cmd.Stderr = progress, progress
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build %s: %w", args[len(args)-1], err)
	}
	return nil
}

// withOutput adds what a command said to why it failed.
func withOutput(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return err
}

// BuildPrometheus builds a program of Prometheus where the benchmark does, once, and returns
// its path. It is for tests that need the real sender, or the real reader.
func BuildPrometheus(ctx context.Context, program string, progress io.Writer) (string, error) {
	o, err := Options{}.withDefaults(ctx)
	if err != nil {
		return "", err
	}
	return buildUpstream(ctx, o, program, progress)
}
