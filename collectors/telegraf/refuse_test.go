package telegraf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sextant/collectors/plugins"
)

func TestWhatIsRefused(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unlisted", "[[inputs.cpu]]\n\n[[inputs.redis]]\n  servers = ['tcp://h']\n",
			"telegraf.conf:3: inputs.redis is not a part of this agent: to add it, add to collectors/telegraf/plugins.go the line `_ \"github.com/influxdata/telegraf/plugins/inputs/redis\"` and build the agent; it has amd_rocm_smi, cpu, disk, diskio, "},
		{"service", "[[inputs.test_service]]\n", "telegraf.conf:1: inputs.test_service is a service input"},
		{"output", "[[inputs.cpu]]\n[[outputs.file]]\n", "telegraf.conf:2: outputs are refused: the agent has one output, its spool and Kafka; supported are [agent], [global_tags] and [[inputs.*]]"},
		{"processor", "[[processors.rename]]\n", "telegraf.conf:1: processors are refused: "},
		{"aggregator", "[[aggregators.basicstats]]\n", "telegraf.conf:1: aggregators are refused: "},
		{"secret store", "[[secretstores.os]]\n", "telegraf.conf:1: secretstores are refused: "},
		{"legacy", "[cpu]\n", "telegraf.conf:1: [cpu]: want [agent], [global_tags] or [[inputs.*]]"},
		{"one bracket", "[inputs.cpu]\n", "telegraf.conf:1: write [[inputs.cpu]], with two brackets"},
		{"interval", "[agent]\ninterval = '100ms'\n[[inputs.cpu]]\n", `telegraf.conf:2: agent.interval: "100ms", want a duration of at least 1s`},
		{"interval of an input", "[[inputs.cpu]]\ninterval = 'soon'\n", `telegraf.conf:2: inputs.cpu.interval: "soon", want a duration`},
		{"round_interval", "[agent]\nround_interval = false\n[[inputs.cpu]]\n", "telegraf.conf:2: agent.round_interval: want true"},
		{"jitter", "[agent]\ncollection_jitter = '3s'\n[[inputs.cpu]]\n", `telegraf.conf:2: agent.collection_jitter: "3s", want "0s"`},
		{"statefile", "[agent]\nstatefile = '/x'\n[[inputs.cpu]]\n", "telegraf.conf:2: agent.statefile is refused"},
		{"unknown key of a plugin", "[[inputs.cpu]]\npercpus = true\n", `configuration specified the fields ["percpus"], but they were not used`},
		{"data format", "[[inputs.exec]]\ndata_format = 'avro'\n", `telegraf.conf:2: inputs.exec: data_format "avro" is not a part of this agent`},
		{"bad filter", "[[inputs.cpu]]\nmetricpass = 'name =='\n", "telegraf.conf"},
		{"name twice", "[[inputs.cpu]]\nalias='a'\n[[inputs.cpu]]\nalias='a'\n", "telegraf.conf:3: inputs.cpu: cpu:a is already the name of the one in line 1"},
		{"not TOML", "[[inputs.cpu]]\nx = \n", "telegraf.conf:3: invalid TOML syntax"},
		{"nothing", "[agent]\n", "telegraf.conf: there is no [[inputs.*]]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Runner{}.Check(plugins.Config{Config: conf(t, c.text)}, "telegraf")
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "telegraf.config: ") {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// TestEachFaultIsReported: all that is refused in one go.
func TestEachFaultIsReported(t *testing.T) {
	err := Runner{}.Check(plugins.Config{Config: conf(t, "[[inputs.redis]]\n[[inputs.redis]]\n[[outputs.file]]\n")}, "telegraf")
	if err == nil || strings.Count(err.Error(), "telegraf.config: telegraf.conf:") != 3 {
		t.Fatal(err)
	}
}

func TestFile(t *testing.T) {
	if err := (Runner{}).Check(plugins.Config{}, "telegraf"); err != nil {
		t.Errorf("without a file: %v", err)
	}
	if err := (Runner{}).Check(plugins.Config{Config: "/no/telegraf.conf"}, "telegraf"); err == nil || !strings.Contains(err.Error(), "open /no/telegraf.conf") {
		t.Errorf("missing file: %v", err)
	}
	big := filepath.Join(t.TempDir(), "big.conf")
	if err := os.WriteFile(big, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (Runner{}).Check(plugins.Config{Config: big}, "telegraf"); err == nil || !strings.Contains(err.Error(), "larger than 1048576 bytes") {
		t.Errorf("large file: %v", err)
	}
}

// TestDefaultAgentSection: the file that `telegraf config` writes has these keys.
func TestDefaultAgentSection(t *testing.T) {
	err := Runner{}.Check(plugins.Config{Config: conf(t, `[agent]
  interval = "10s"
  round_interval = true
  metric_batch_size = 1000
  metric_buffer_limit = 10000
  collection_jitter = "0s"
  flush_interval = "10s"
  flush_jitter = "0s"
  precision = "0s"
  hostname = ""
  omit_hostname = false
[[inputs.mem]]
`)}, "telegraf")
	if err != nil {
		t.Fatal(err)
	}
}

func FuzzTables(f *testing.F) {
	f.Add("[agent]\ninterval = \"10s\"\n[[inputs.cpu]]\n[inputs.cpu.tags]\na = 'b'\n")
	f.Add("[[outputs.file]]\n[inputs.cpu]\ninputs = 3\n")
	f.Add("[[agent]]\n[[inputs]]\nx = \"${A:-b}\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := readTables("f", []byte(text)); err == nil && r == nil {
			t.Fatal("neither tables nor an error")
		}
	})
}
