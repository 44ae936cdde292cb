package collectors

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	promcommon "github.com/prometheus/common/config"
	promhttp "github.com/prometheus/prometheus/discovery/http"

	"sextant/collectors/dcgm"
	"sextant/collectors/host"
	"sextant/collectors/inventory"
	"sextant/collectors/nvml"
	"sextant/collectors/plugins"
	"sextant/collectors/podresources"
	"sextant/collectors/promconfig"
	"sextant/collectors/receive"
	"sextant/collectors/scrape"
	"sextant/collectors/spool"
	"sextant/internal/config"
	"sextant/pipeline/kafka"
	"sextant/schema/topics"
)

// Config is the agent's configuration: Prometheus' own global and scrape_configs, and
// beside them the sections that Prometheus does not have.
type Config struct {
	Global  promconfig.GlobalConfig
	Scrape  []*promconfig.ScrapeConfig
	Section // the agent's own sections

	plugins plugins.Runner // of the section telegraf, and whether dcgm and nvml are here
}

// Section holds the agent's own top-level keys.
type Section struct {
	Node  string      `yaml:"node"` // this host's name; default: its host name
	Self  bool        `yaml:"self"` // collect the agent's own metrics
	Host  host.Config `yaml:"host"`
	DCGM  dcgm.Config `yaml:"dcgm"`
	NVML  nvml.Config `yaml:"nvml"`
	Kafka KafkaConfig `yaml:"kafka"`
	Spool SpoolConfig `yaml:"spool"`
	Web   WebConfig   `yaml:"web"`

	Telegraf plugins.Config `yaml:"telegraf"` // input plugins of Telegraf
	Receive  receive.Config `yaml:"receive"`  // remote-write of others

	PodResources podresources.Config `yaml:"pod_resources"` // who holds which device, from the kubelet
	Inventory    inventory.Config    `yaml:"inventory"`
}

// KafkaConfig says where scrapes go.
type KafkaConfig struct {
	kafka.Config   `yaml:",inline"`
	Topic          string       `yaml:"topic"`
	MaxRecordBytes config.Bytes `yaml:"max_record_bytes"`
}

// SpoolConfig says where scrapes wait, and how much of the disk they may take.
type SpoolConfig struct {
	Dir      string          `yaml:"dir"`
	MaxBytes config.Bytes    `yaml:"max_bytes"`
	Sync     string          `yaml:"sync"`  // interval, always or none
	Fresh    config.Duration `yaml:"fresh"` // age up to which a scrape goes before the backlog
}

// WebConfig is the agent's own listener.
type WebConfig struct {
	Listen     string `yaml:"listen"`      // host:port
	ConfigFile string `yaml:"config_file"` // TLS and users, as exporter-toolkit reads them
}

// DefaultInterval is global.scrape_interval where the file has none.
const DefaultInterval = 10 * time.Second

// Defaults collects this host and the agent itself every 10 s.
func Defaults() Config {
	global := promconfig.DefaultGlobalConfig
	global.ScrapeInterval = promDuration(DefaultInterval)
	global.ScrapeTimeout = promDuration(DefaultInterval)
	return Config{
		Global: global, plugins: plugins.Absent{},
		Section: Section{
			Self:  true,
			Host:  host.Defaults(),
			DCGM:  dcgm.Defaults(),
			Kafka: KafkaConfig{Config: kafka.Config{ClientID: "sextant-agent"}, Topic: topics.Samples, MaxRecordBytes: kafka.DefaultMaxRecordBytes},
			Spool: SpoolConfig{Dir: "/var/lib/sextant-agent", MaxBytes: 1 << 30, Sync: string(spool.SyncInterval), Fresh: config.Duration(20 * time.Second)},
			Web:   WebConfig{Listen: "127.0.0.1:9465"},

			Receive: receive.Defaults(),

			PodResources: podresources.Defaults(),
			Inventory:    inventory.Defaults(),
		},
	}
}

// Check reports every fault, each beginning with the path of its key.
func (c *Config) Check() error {
	var errs []error
	fault := func(bad bool, format string, a ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, a...))
		}
	}
	fault(c.Node == "" || len(c.Node) > 255, "node: %d bytes, want 1 to 255", len(c.Node))
	fault(strings.ContainsFunc(c.Node, func(r rune) bool { return r < ' ' || r == 0x7f }), "node: %q has control characters", c.Node)
	fault(c.Spool.Dir == "", "spool.dir: missing")
	// The spool keeps no payload larger than a quarter of itself.
	fault(c.Spool.MaxBytes < 4*c.Kafka.MaxRecordBytes, "spool.max_bytes: %d, want at least four times kafka.max_record_bytes, %d", c.Spool.MaxBytes, 4*c.Kafka.MaxRecordBytes)
	fault(!slices.Contains([]string{"interval", "always", "none"}, c.Spool.Sync), "spool.sync: %q, want interval, always or none", c.Spool.Sync)
	fault(c.Spool.Fresh < 0, "spool.fresh: %s, want at least 0", c.Spool.Fresh.D())
	fault(c.Kafka.Topic == "", "kafka.topic: missing")
	fault(c.Kafka.MaxRecordBytes < 1<<20, "kafka.max_record_bytes: %d, want at least 1MiB", c.Kafka.MaxRecordBytes)
	fault(c.Web.Listen == "", "web.listen: missing")
	fault(c.Host.Interval != 0 && c.Host.Interval.D() < time.Second, "host.interval: %s, want at least 1s", c.Host.Interval.D())
	fault(c.NVML.Enabled && c.DCGM.Enabled, "nvml.enabled: not beside dcgm, each series would come twice")
	errs = append(errs, prefixed("kafka.", c.Kafka.Validate()), c.Host.Check("host"), c.DCGM.Check("dcgm"), c.NVML.Check("nvml"), c.Receive.Check("receive"), c.PodResources.Check("pod_resources"), c.Inventory.Check("inventory"), c.plugins.Check(c.Telegraf, "telegraf"))
	errs = append(errs, c.checkJobs()...)
	if c.DCGM.Enabled {
		errs = append(errs, c.plugins.Devices("dcgm"))
	}
	if c.NVML.Enabled {
		errs = append(errs, c.plugins.Devices("nvml"))
	}
	return errors.Join(errs...)
}

// checkJobs refuses what Prometheus has and this agent does not do, rather than to
// ignore it.
func (c *Config) checkJobs() []error {
	var errs []error
	for _, s := range c.Scrape {
		fault := func(bad bool, key, why string) {
			if bad {
				errs = append(errs, fmt.Errorf("scrape_configs: job %q: %s: %s", s.JobName, key, why))
			}
		}
		for _, p := range s.ScrapeProtocols {
			fault(!scrape.Accepted[p], "scrape_protocols", fmt.Sprintf("%s is not read, use the text formats", p))
		}
		fault(s.ScrapeFallbackProtocol != "" && !scrape.Accepted[s.ScrapeFallbackProtocol], "fallback_scrape_protocol",
			fmt.Sprintf("%s is not read, use a text format", s.ScrapeFallbackProtocol))
		fault(s.ScrapeNativeHistogramsEnabled(), "scrape_native_histograms", "native histograms are not collected")
		fault(s.ConvertClassicHistogramsToNHCBEnabled(), "convert_classic_histograms_to_nhcb", "native histograms are not collected")
		fault(s.ScrapeFailureLogFile != "", "scrape_failure_log_file", "failures are logged when a target turns, and shown at /targets")
		errs = append(errs, checkClients(s))
	}
	return errs
}

// checkClients opens the certificates that a job and its discovery name, so that a missing
// one is a fault of the configuration and not of a reload that has half happened.
func checkClients(s *promconfig.ScrapeConfig) error {
	var errs []error
	try := func(what string, c promcommon.HTTPClientConfig) {
		if _, err := promcommon.NewClientFromConfig(c, s.JobName); err != nil {
			errs = append(errs, fmt.Errorf("scrape_configs: job %q: %s%w", s.JobName, what, err))
		}
	}
	try("", s.HTTPClientConfig)
	for _, d := range s.ServiceDiscoveryConfigs {
		if h, ok := d.(*promhttp.SDConfig); ok {
			try("http_sd_configs: ", h.HTTPClientConfig)
		}
	}
	return errors.Join(errs...)
}

// prefixed puts the path of a section before each line of its faults.
func prefixed(path string, err error) error {
	if err == nil {
		return nil
	}
	lines := strings.Split(err.Error(), "\n")
	for i, l := range lines {
		lines[i] = path + l
	}
	return errors.New(strings.Join(lines, "\n"))
}

// setDirectory makes the file names of the agent's own sections relative to dir.
func (c *Config) setDirectory(dir string) {
	paths := []*string{&c.Web.ConfigFile, &c.Receive.ConfigFile, &c.Telegraf.Config}
	if t := c.Kafka.TLS; t != nil {
		paths = append(paths, &t.CAFile, &t.CertFile, &t.KeyFile)
	}
	if s := c.Kafka.SASL; s != nil {
		paths = append(paths, &s.PasswordFile)
	}
	for _, p := range paths {
		*p = promcommon.JoinDir(dir, *p)
	}
}

// hostInterval is how often this host is read.
func (c *Config) hostInterval() time.Duration { return c.interval(c.Host.Interval) }

// dcgmInterval is how often DCGM is read.
func (c *Config) dcgmInterval() time.Duration { return c.interval(c.DCGM.Interval) }

// interval is a section's own, or the global one.
func (c *Config) interval(own config.Duration) time.Duration {
	if own != 0 {
		return own.D()
	}
	return time.Duration(c.Global.ScrapeInterval)
}

// dirOf is the directory that names in the file are relative to.
func dirOf(file string) string {
	if file == "" {
		return ""
	}
	return filepath.Dir(file)
}
