package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

type part struct {
	Brokers []string      `yaml:"brokers"`
	Wait    Duration      `yaml:"wait"`
	Plain   time.Duration `yaml:"plain"`
}

type conf struct {
	Kafka part    `yaml:"kafka"`
	Cap   Bytes   `yaml:"cap"`
	On    bool    `yaml:"on"`
	Ratio float64 `yaml:"ratio"`
	Count int     `yaml:"count"`
	Name  string  `yaml:"name"`
}

func (c *conf) Check() error {
	var errs []error
	if len(c.Kafka.Brokers) == 0 {
		errs = append(errs, errors.New("kafka.brokers: at least one"))
	}
	if c.Cap < 1024 {
		errs = append(errs, errors.New("cap: at least 1KiB"))
	}
	return errors.Join(errs...)
}

func write(t *testing.T, text string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestLoadLayersFileOverDefaultsAndEnvironmentOverFile(t *testing.T) {
	t.Setenv("SX_KAFKA_WAIT", "3s")
	t.Setenv("SX_ON", "true")
	t.Setenv("SX_KAFKA_BROKERS", "a:1, b:2")
	t.Setenv("SX_RATIO", "0.25")
	t.Setenv("SX_COUNT", "7")
	t.Setenv("SX_KAFKA_PLAIN", "4s")
	c := conf{Name: "default", Cap: 1 << 20}
	if err := Load(write(t, "kafka: {brokers: [x:9], wait: 1m30s}\ncap: 64MiB\n"), "SX", &c); err != nil {
		t.Fatal(err)
	}
	if c.Name != "default" || c.Cap != 64<<20 || c.Kafka.Wait.D() != 3*time.Second || !c.On ||
		strings.Join(c.Kafka.Brokers, "|") != "a:1|b:2" || c.Ratio != 0.25 || c.Count != 7 || c.Kafka.Plain != 4*time.Second {
		t.Fatalf("%+v", c)
	}
}

func TestLoadNamesFileAndLine(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"unknown key", "kafka:\n  brokers: [a]\n  brocker: [b]\n", `c.yaml:3: unknown key "brocker"`},
		{"wrong type", "on: maybe\n", "c.yaml:1: cannot unmarshal"},
		{"bad size", "cap: lots\n", `size "lots"`},
		{"not yaml", "a: b: c\n", "c.yaml: mapping values are not allowed"},
		{"two documents", "on: true\n---\non: false\n", "more than one YAML document"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := Load(write(t, tc.text), "SX", &conf{})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want it to contain %q", err, tc.want)
			}
		})
	}
}

func TestLoadReportsEveryFaultAtOnce(t *testing.T) {
	err := Load(write(t, "on: true\n"), "SX", &conf{})
	if err == nil || !strings.Contains(err.Error(), "kafka.brokers") || !strings.Contains(err.Error(), "cap:") {
		t.Fatalf("got %v", err)
	}
}

func TestLoadNamesTheEnvironmentVariable(t *testing.T) {
	t.Setenv("SX_KAFKA_WAIT", "soon")
	err := Load(write(t, "on: true\n"), "SX", &conf{})
	if err == nil || !strings.Contains(err.Error(), "SX_KAFKA_WAIT") {
		t.Fatalf("got %v", err)
	}
}
