package collectors

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"sextant/collectors/telegraf"
)

func environ(kv ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, e := range kv {
			if k, v, _ := strings.Cut(e, "="); k == name {
				return v, true
			}
		}
		return "", false
	}
}

const brokers = "kafka:\n  brokers: [a:9092]\n"

func parse(t *testing.T, text string, env ...string) *Config {
	t.Helper()
	c, err := Parse("agent.yaml", []byte(text), environ(env...), telegraf.Runner{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaultsAreTenSeconds(t *testing.T) {
	c := parse(t, brokers+"scrape_configs:\n- job_name: j\n  static_configs: [{targets: ['h:1']}]\n")
	j := c.Scrape[0]
	if time.Duration(j.ScrapeInterval) != 10*time.Second || time.Duration(j.ScrapeTimeout) != 10*time.Second || c.hostInterval() != 10*time.Second {
		t.Fatalf("interval %s timeout %s host %s", j.ScrapeInterval, j.ScrapeTimeout, c.hostInterval())
	}
	if c.Node == "" || !c.Self || !c.Host.Enabled || c.Web.Listen != "127.0.0.1:9465" || c.Kafka.Topic != "telemetry.samples" {
		t.Fatalf("%+v", c.Section)
	}
	c = parse(t, brokers+"global: {scrape_timeout: 3s, external_labels: {dc: '${DC_OF_TEST}x'}}\nscrape_configs:\n- {job_name: j, scrape_interval: 2s}\n- {job_name: k}\n")
	if d := time.Duration(c.Scrape[0].ScrapeTimeout); d != 2*time.Second {
		t.Fatalf("timeout %s", d)
	}
	if d := time.Duration(c.Scrape[1].ScrapeTimeout); d != 3*time.Second {
		t.Fatalf("timeout %s", d)
	}
	if !labels.Equal(c.Global.ExternalLabels, labels.FromStrings("dc", "x")) {
		t.Fatalf("external labels %s", c.Global.ExternalLabels)
	}
	if d := time.Duration(parse(t, brokers+"global: {scrape_interval: 1m}\n").Global.ScrapeInterval); d != time.Minute {
		t.Fatalf("interval %s", d)
	}
}

func TestEnvironmentOverridesTheAgentsKeys(t *testing.T) {
	c := parse(t, "node: filed\nweb: {listen: '127.0.0.1:1'}\n", "SEXTANT_NODE=n7", "SEXTANT_KAFKA_BROKERS=x:1, y:2",
		"SEXTANT_SPOOL_DIR=/d", "SEXTANT_SPOOL_MAX_BYTES=5MiB", "SEXTANT_HOST_PROC_PATH=/host/proc", "SEXTANT_SELF=false")
	if c.Node != "n7" || len(c.Kafka.Brokers) != 2 || c.Spool.Dir != "/d" || c.Spool.MaxBytes != 5<<20 || c.Host.ProcPath != "/host/proc" || c.Self ||
		c.Web.Listen != "127.0.0.1:1" {
		t.Fatalf("%+v", c.Section)
	}
}

func TestEachFaultHasItsLine(t *testing.T) {
	text, err := os.ReadFile("testdata/faulty.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Parse("f.yaml", text, environ(), telegraf.Runner{})
	want := `f.yaml:3: unknown key "brocker"
f.yaml:7: unknown key "max_byte"
f.yaml:11: job "bad regex": error parsing regexp: missing closing ): ` + "`^(?s:(x)$`" + `
f.yaml:14: kubernetes_sd_configs: service discovery through kubernetes is not a part of the agent; supported are static_configs, file_sd_configs and http_sd_configs
f.yaml:15: unknown key "scrape_timeut"
f.yaml:16: job "timeout": scrape timeout greater than scrape interval for scrape config with job name "timeout"
f.yaml:18: job without job_name: job_name is empty
f.yaml:20: job "action": unknown relabel action "nope"
f.yaml: job_name "ok" is used twice`
	got := err.Error()
	for _, line := range strings.Split(want, "\n") {
		if !strings.Contains(got+"\n", line+"\n") {
			t.Errorf("missing: %s", line)
		}
	}
	if a, b := strings.Count(got, "\n"), strings.Count(want, "\n"); a != b {
		t.Errorf("%d lines, want %d:\n%s", a+1, b+1, got)
	}
}

func TestFaultsOfTheWhole(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no brokers", "node: n\n", "kafka.brokers: at least one"},
		{"spool", brokers + "spool: {max_bytes: 10KiB, sync: sometimes}\n", "spool.sync: \"sometimes\", want interval, always or none"},
		{"host", brokers + "host: {collectors: [gpus]}\n", `host.collectors: node_exporter has no collector "gpus"`},
		{"foreign key", brokers + "remote_write: []\n", "agent.yaml:3: remote_write is not a part of the agent"},
		{"protobuf", brokers + "scrape_configs:\n- {job_name: j, scrape_protocols: [PrometheusProto]}\n", "scrape_protocols: PrometheusProto is not read"},
		{"native histograms", brokers + "scrape_configs:\n- {job_name: j, scrape_native_histograms: true}\n", "native histograms are not collected"},
		{"global", brokers + "global:\n  scrape_interval: soon\n", "agent.yaml:3: global: "},
		{"global key", brokers + "global:\n  scrape_interva: 1s\n", `agent.yaml:4: unknown key "scrape_interva"`},
		{"long global timeout", brokers + "global: {scrape_timeout: 30s}\n", "scrape_timeout 30s is longer than scrape_interval 10s"},
		{"flow style", "{kafka: {brokers: [a:1]}}\n", "agent.yaml:1: the top level must be keys"},
		{"not YAML", "a: b: c\n", "agent.yaml: mapping values are not allowed"},
		{"two documents", brokers + "---\nnode: x\n", "more than one YAML document"},
		{"key twice", brokers + "kafka: {}\n", `agent.yaml:3: key "kafka" is already on line 1`},
		{"null job", brokers + "scrape_configs:\n-\n", "agent.yaml:4: job without job_name: empty or null scrape config section"},
		{"missing certificate", brokers + "scrape_configs:\n- job_name: j\n  tls_config: {ca_file: /no/ca.pem}\n", `job "j": unable to read CA cert: unable to read file /no/ca.pem`},
		{"missing certificate of discovery", brokers + "scrape_configs:\n- job_name: j\n  http_sd_configs: [{url: 'https://h/', tls_config: {ca_file: /no/ca.pem}}]\n", `job "j": http_sd_configs: unable to read CA cert`},
		{"URL as target", brokers + "scrape_configs:\n- job_name: j\n  static_configs: [{targets: ['http://h:1/']}]\n", `"http://h:1/" is not a valid hostname`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("agent.yaml", []byte(c.text), environ(), telegraf.Runner{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestExampleIsValid(t *testing.T) {
	c, err := LoadWith("../deploy/agent.example.yaml", environ(), telegraf.Runner{})
	if err != nil {
		t.Fatal(err)
	}
	d := Defaults()
	d.Node, d.Kafka.Brokers = c.Node, c.Kafka.Brokers
	c.Host.Collectors, c.Host.Exclude, c.Host.Flags = nil, nil, nil // written as empty lists
	c.DCGM.Fields, c.DCGM.Exclude = nil, nil
	if changed := fixed(&d, c); changed != nil {
		t.Fatalf("the example does not show the defaults of %v:\n%+v\n%+v", changed, d.Section, c.Section)
	}
}

func TestJobsFromFurtherFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("agent.yaml", brokers+"web: {config_file: web.yaml}\nscrape_config_files: ['jobs/*.yaml']\n")
	write("jobs/a.yaml", "scrape_configs:\n- job_name: a\n  authorization: {credentials_file: token}\n")
	c, err := LoadWith(filepath.Join(dir, "agent.yaml"), environ(), telegraf.Runner{})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Scrape[0].HTTPClientConfig.Authorization.CredentialsFile; got != filepath.Join(dir, "jobs/token") {
		t.Fatalf("credentials_file %s", got)
	}
	if c.Web.ConfigFile != filepath.Join(dir, "web.yaml") {
		t.Fatalf("web.config_file %s", c.Web.ConfigFile)
	}
	write("jobs/b.yaml", "scrape_configs:\n- job_name: a\nglobal: {}\n")
	if _, err = LoadWith(filepath.Join(dir, "agent.yaml"), environ(), telegraf.Runner{}); err == nil || !strings.Contains(err.Error(), "b.yaml:3: unknown key \"global\"") {
		t.Fatalf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(brokers)
	f.Add("scrape_configs:\n- job_name: j\n-\n  job_name: k\n")
	f.Add("global: &x\nscrape_configs: *x\n")
	f.Add("scrape_configs:\n  - {job_name: a,\n    scheme: b}\n")
	text, err := os.ReadFile("testdata/faulty.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "scrape_config_files") {
			return // names files of this machine
		}
		c, err := Parse("f.yaml", []byte(text), environ(), telegraf.Runner{})
		if err == nil && len(c.Kafka.Brokers) == 0 {
			t.Fatal("a configuration without brokers passed")
		}
	})
}
