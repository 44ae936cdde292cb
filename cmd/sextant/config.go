package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sextant/features"
	"sextant/internal/access"
	"sextant/internal/clickhouse"
	"sextant/internal/config"
	"sextant/internal/exit"
	"sextant/internal/kube"
	"sextant/pipeline/kafka"
)

// Config is the configuration of every server-side command. A command reads the parts it
// needs, so one file serves them all.
type Config struct {
	Kafka      kafka.Config      `yaml:"kafka"`
	ClickHouse clickhouse.Config `yaml:"clickhouse"`
	Views      []string          `yaml:"views"` // folders of feature views and services; "builtin": those of the program
	Pipeline   PipelineConfig    `yaml:"pipeline"`
	Serve      ServeConfig       `yaml:"serve"`
	Ingest     IngestConfig      `yaml:"ingest"`
	Watch      WatchConfig       `yaml:"watch"`
	Log        LogConfig         `yaml:"log"`
}

// PipelineConfig is the stream processor's part.
type PipelineConfig struct {
	Group      string          `yaml:"group"`       // Kafka consumer group
	Lateness   config.Duration `yaml:"lateness"`    // how long a tick waits for samples before it
	BatchRows  int             `yaml:"batch_rows"`  // samples in one write of a partition, at most
	FlushEvery config.Duration `yaml:"flush_every"` // a started batch is written after this long, one of few rows after four times as long
	Listen     string          `yaml:"listen"`      // /metrics, /healthz, /readyz; empty: none
	WebConfig  string          `yaml:"web_config"`  // exporter-toolkit file: TLS and users
}

// ServeConfig is the feature API's part.
type ServeConfig struct {
	Listen       string          `yaml:"listen"`
	WebConfig    string          `yaml:"web_config"`
	TokenFile    string          `yaml:"token_file"` // who may ask for what, see docs/access.md; empty: everybody
	Limits       access.Limits   `yaml:"limits"`
	LogRate      float64         `yaml:"log_rate"` // share of answers that is kept in served_features, 0 to 1
	RefreshEvery config.Duration `yaml:"refresh_every"`

	Prometheus PrometheusConfig `yaml:"prometheus"`
	Training   TrainingConfig   `yaml:"training"`
	Snapshot   SnapshotConfig   `yaml:"snapshot"`
}

// IngestConfig is the part of what takes task events over HTTP.
type IngestConfig struct {
	Listen    string        `yaml:"listen"`
	WebConfig string        `yaml:"web_config"`
	TokenFile string        `yaml:"token_file"` // who may send, see docs/access.md; empty: everybody
	Limits    access.Limits `yaml:"limits"`
}

// WatchConfig is the part of the watcher of Kubernetes.
type WatchConfig struct {
	kube.Config `yaml:",inline"`
	Listen      string `yaml:"listen"` // /metrics, /healthz; empty: none
	WebConfig   string `yaml:"web_config"`
}

// LogConfig says how much is logged and in which form.
type LogConfig struct {
	Level  slog.Level `yaml:"level"`  // debug, info, warn, error
	Format string     `yaml:"format"` // text or json
}

func defaultConfig() *Config {
	return &Config{
		Kafka:      kafka.Config{Brokers: []string{"127.0.0.1:9092"}, ClientID: "sextant"},
		ClickHouse: clickhouse.DefaultConfig(),
		Pipeline: PipelineConfig{
			Group: "sextant-pipeline", Lateness: config.Duration(5 * time.Second),
			BatchRows: 200_000, FlushEvery: config.Duration(time.Second), Listen: "127.0.0.1:9466",
		},
		Serve:  ServeConfig{Listen: "127.0.0.1:6566", RefreshEvery: config.Duration(500 * time.Millisecond), Limits: defaultLimits(), Prometheus: defaultPrometheus(), Training: defaultTraining(), Snapshot: defaultSnapshot()},
		Ingest: IngestConfig{Listen: "127.0.0.1:6567", Limits: defaultLimits()},
		Watch:  WatchConfig{Config: kube.DefaultConfig(), Listen: "127.0.0.1:9467"},
		Views:  []string{builtinViews},
		Log:    LogConfig{Format: "text"},
	}
}

// defaultLimits leave a listener room for what its host can do, and no more.
func defaultLimits() access.Limits {
	return access.Limits{Concurrency: 256, Timeout: config.Duration(2 * time.Minute)}
}

// Check reports every fault at once, each with the path of its key.
func (c *Config) Check() error {
	var errs []error
	fail := func(key, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s", key, fmt.Sprintf(format, args...)))
	}
	errs = append(errs, under("kafka", c.Kafka.Validate()), under("clickhouse", c.ClickHouse.Validate()), under("watch", c.Watch.Validate()))
	errs = append(errs, under("serve.limits", c.Serve.Limits.Check()), under("ingest.limits", c.Ingest.Limits.Check()))
	if len(c.Views) == 0 {
		fail("views", "a folder of feature views is needed, or %q", builtinViews)
	}
	if c.Pipeline.Group == "" {
		fail("pipeline.group", "a consumer group is needed")
	}
	if c.Pipeline.Lateness < 0 {
		fail("pipeline.lateness", "must not be negative")
	}
	if c.Pipeline.BatchRows < 1_000 || c.Pipeline.BatchRows > 10_000_000 {
		fail("pipeline.batch_rows", "%d is not within 1,000 and 10,000,000", c.Pipeline.BatchRows)
	}
	if d := c.Pipeline.FlushEvery.D(); d < 10*time.Millisecond || d > time.Minute {
		fail("pipeline.flush_every", "%v is not within 10ms and 1m", d)
	}
	if d := c.Serve.RefreshEvery.D(); d < 10*time.Millisecond || d > time.Minute {
		fail("serve.refresh_every", "%v is not within 10ms and 1m", d)
	}
	if r := c.Serve.LogRate; !(r >= 0 && r <= 1) {
		fail("serve.log_rate", "%g is not within 0 and 1", r)
	}
	c.Serve.Prometheus.check(fail)
	c.Serve.Training.check(fail)
	c.Serve.Snapshot.check(fail)
	if c.Log.Format != "text" && c.Log.Format != "json" {
		fail("log.format", "%q is neither text nor json", c.Log.Format)
	}
	return errors.Join(errs...)
}

// under puts a path before each fault of a part that does not know its own.
func under(path string, err error) error {
	if err == nil {
		return nil
	}
	lines := strings.Split(err.Error(), "\n")
	return errors.New(path + "." + strings.Join(lines, "\n"+path+"."))
}

// definitions loads the feature views and services that the configuration names.
func (c *Config) definitions() (*features.Set, error) { return definitionsIn(c.Views) }

// builtinViews names the definitions that come with the program in a list of folders.
const builtinViews = "builtin"

// definitionsIn loads the views and services of folders, all together.
func definitionsIn(folders []string) (*features.Set, error) {
	var sources []features.Source
	for _, dir := range folders {
		if dir == builtinViews {
			sources = append(sources, features.BuiltinSource())
		} else {
			sources = append(sources, features.Source{Name: dir, FS: os.DirFS(dir)})
		}
	}
	set, err := features.Read(sources...)
	if err != nil {
		return nil, exit.Config(fmt.Errorf("feature definitions:\n%w", err))
	}
	return set, nil
}

// logger writes to standard error, so that standard output stays a command's answer.
func (c *Config) logger() *slog.Logger {
	opts := &slog.HandlerOptions{Level: c.Log.Level}
	if c.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, opts))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, opts))
}

// configFlag adds --config to cmd and returns a function that loads it.
func configFlag(cmd *cobra.Command) func() (*Config, error) {
	path := cmd.Flags().StringP("config", "c", os.Getenv("SEXTANT_CONFIG"),
		"configuration file (deploy/sextant.example.yaml shows every key); SEXTANT_CONFIG names it too")
	return func() (*Config, error) {
		c := defaultConfig()
		others, strays := config.Strays(config.Prefix, os.Environ(), c, config.ServerVariables)
		if err := errors.Join(strays, config.Load(*path, config.Prefix, c)); err != nil {
			return nil, exit.Config(err)
		}
		if len(others) > 0 {
			c.logger().Warn("variables of the environment that only sextant-agent reads", "names", others)
		}
		return c, nil
	}
}
