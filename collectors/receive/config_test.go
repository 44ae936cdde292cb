package receive

import (
	"strings"
	"testing"
	"time"

	"sextant/internal/config"
)

func TestCheckReportsEveryFault(t *testing.T) {
	c := Defaults()
	if err := config.Decode("t.yaml", []byte(`
path: write
node_labels: [node, ""]
relabel_configs: [{action: replace}, {action: keep, regex: x}, null, {action: hashmod, target_label: a}]
max_age: 100d
max_body_bytes: 1B
max_request_bytes: 1GiB
max_series: 0
max_samples: -1
max_labels: 1000
max_concurrent: 0
`), &c); err != nil {
		t.Fatal(err)
	}
	err := c.Check("receive")
	if err == nil {
		t.Fatal("no fault")
	}
	lines := strings.Split(err.Error(), "\n")
	for i, want := range []string{"receive.path: \"write\"", "receive.node_labels: an empty name", "receive.relabel_configs[0]: relabel configuration for replace",
		"receive.relabel_configs[2]: empty", "receive.relabel_configs[3]: ", "receive.max_age: 2400h0m0s", "receive.max_body_bytes: 1,", "receive.max_request_bytes: ",
		"receive.max_series: 0", "receive.max_samples: -1", "receive.max_labels: 1000", "receive.max_concurrent: 0"} {
		if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
			t.Fatalf("line %d is not %q:\n%v", i, want, err)
		}
	}
}

func TestListenerIsGuarded(t *testing.T) {
	for addr, want := range map[string]string{"0.0.0.0:0": "receive: listen address 0.0.0.0:0 leaves this host", "127.0.0.1": "receive: listen address"} {
		cfg := Defaults()
		cfg.Listen = addr
		if err := cfg.Check("receive"); err != nil {
			t.Fatal(err)
		}
		_, err := Listen(cfg, options(&kept{}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("%s: %v", addr, err)
		}
	}
}

func TestDefaultsAreSound(t *testing.T) {
	c := Defaults()
	if err := c.Check("receive"); err != nil {
		t.Fatal(err)
	}
	if c.Enabled() || c.MaxAge.D() > 14*24*time.Hour {
		t.Fatalf("%+v", c)
	}
}
