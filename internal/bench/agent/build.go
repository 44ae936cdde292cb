package agent

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Programs of others that are built.
const (
	prometheus  = "github.com/prometheus/prometheus"
	telegraf    = "github.com/influxdata/telegraf"
	vmagent     = "github.com/VictoriaMetrics/VictoriaMetrics/app/vmagent@v1.151.0"
	collector   = "go.opentelemetry.io/collector/cmd/builder@v0.165.0"
	collectorOf = "0.165.1" // of the parts in the manifest
)

//go:embed otelcol.yaml
var collectorManifest []byte

// buildAgent builds the agent from the module's source.
func buildAgent(ctx context.Context, o Options, progress io.Writer) (string, error) {
	if o.Agent != "" {
		return o.Agent, nil
	}
	path := filepath.Join(o.CacheDir, "bench", "sextant-agent")
	return path, goBuild(ctx, progress, o.Module, path, false, "./cmd/sextant-agent")
}

// buildPrometheus builds Prometheus at the version of the module, with the versions of its
// go.mod. Service discovery is left out but for files, which makes the build and the program smaller.
func buildPrometheus(ctx context.Context, o Options, progress io.Writer) (string, error) {
	return buildUpstream(ctx, o, "prometheus", progress)
}

// buildUpstream builds a program of Prometheus: prometheus or promtool.
func buildUpstream(ctx context.Context, o Options, program string, progress io.Writer) (string, error) {
	return buildOfModule(ctx, o, progress, "prometheus", program, prometheus, "netgo,remove_all_sd,enable_file_sd")
}

// buildTelegraf builds Telegraf in the same way, with the plugins that are configured.
func buildTelegraf(ctx context.Context, o Options, progress io.Writer) (string, error) {
	return buildOfModule(ctx, o, progress, "telegraf", "telegraf", telegraf,
		"custom,inputs.prometheus,outputs.kafka,outputs.discard,parsers.prometheus,parsers.influx,serializers.influx")
}

// buildOfModule builds a program whose module this one requires, at the version that it requires,
// in a module beside it: its other dependencies do not belong into ours.
func buildOfModule(ctx context.Context, o Options, progress io.Writer, name, program, module, tags string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-C", o.Module, "-m", "-f", "{{.Version}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("version of %s: %w", module, withOutput(err))
	}
	return once(o, progress, name+"-"+strings.TrimPrefix(strings.TrimSpace(string(out)), "v"), program, func(src, path string) error {
		for _, file := range []string{"go.mod", "go.sum"} {
			b, err := os.ReadFile(filepath.Join(o.Module, file))
			if err == nil {
				err = os.WriteFile(filepath.Join(src, file), b, 0o640)
			}
			if err != nil {
				return err
			}
		}
		return goBuild(ctx, progress, src, path, false, "-mod=mod", "-tags="+tags, module+"/cmd/"+program)
	})
}

// buildVmagent builds vmagent in a module of its own, with cgo as its releases are: its zstd is C.
func buildVmagent(ctx context.Context, o Options, progress io.Writer) (string, error) {
	pkg, version, _ := strings.Cut(vmagent, "@")
	return once(o, progress, "vmagent-"+strings.TrimPrefix(version, "v"), "vmagent", func(src, path string) error {
		if err := os.WriteFile(filepath.Join(src, "go.mod"), []byte("module bench/vmagent\n\ngo 1.26\n"), 0o640); err != nil {
			return err
		}
		if err := goRun(ctx, progress, src, false, "get", vmagent); err != nil {
			return err
		}
		return goBuild(ctx, progress, src, path, true, "-mod=mod", "-tags=netgo,osusergo", pkg)
	})
}

// buildCollector builds the OpenTelemetry collector with its own builder, from the parts in otelcol.yaml.
func buildCollector(ctx context.Context, o Options, progress io.Writer) (string, error) {
	return once(o, progress, "otelcol-"+collectorOf, "otelcol", func(src, path string) error {
		if err := os.WriteFile(filepath.Join(src, "builder.yaml"), collectorManifest, 0o640); err != nil {
			return err
		}
		if err := goRun(ctx, progress, src, false, "run", collector, "--skip-compilation", "--config", "builder.yaml"); err != nil {
			return err
		}
		return goBuild(ctx, progress, filepath.Join(src, "_build"), path, false, ".")
	})
}

// once builds a program into a folder of the cache where it is not there yet.
func once(o Options, progress io.Writer, folder, program string, build func(src, path string) error) (string, error) {
	dir := filepath.Join(o.CacheDir, folder)
	path, src := filepath.Join(dir, program), filepath.Join(dir, "src")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(src, 0o750); err != nil {
		return "", err
	}
	fmt.Fprintf(progress, "building %s of %s, once: this takes minutes\n", program, folder)
	if err := build(src, path+".new"); err != nil {
		return "", err
	}
	return path, os.Rename(path+".new", path)
}

func goBuild(ctx context.Context, progress io.Writer, dir, out string, cgo bool, args ...string) error {
	return goRun(ctx, progress, dir, cgo, append([]string{"build", "-trimpath", "-ldflags=-s -w", "-o", out}, args...)...)
}

func goRun(ctx context.Context, progress io.Writer, dir string, cgo bool, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if cgo {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=1")
	}
	cmd.Stdout, cmd.Stderr = progress, progress
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s %s: %w", args[0], args[len(args)-1], err)
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
