package inventory

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"sextant/internal/config"
	schema "sextant/schema/inventory"
	"sextant/schema/topics"
)

// Config says what to read of the node, what to add to it, and when to send it.
type Config struct {
	Enabled  bool            `yaml:"enabled"`
	Interval config.Duration `yaml:"interval"` // how often the node is read
	Resend   config.Duration `yaml:"resend"`   // how often an unchanged document goes again
	Topic    string          `yaml:"topic"`

	ProcPath   string `yaml:"proc_path"` // empty: that of the host section, likewise below
	SysPath    string `yaml:"sys_path"`
	RootfsPath string `yaml:"rootfs_path"`

	Region      string            `yaml:"region"` // empty: the node's Kubernetes label, likewise zone
	Zone        string            `yaml:"zone"`
	Rack        string            `yaml:"rack"`
	Switch      string            `yaml:"switch"`
	PlaceLabels PlaceLabels       `yaml:"place_labels"`
	Neighbours  []Neighbour       `yaml:"neighbours"`
	Labels      map[string]string `yaml:"labels"`
	Simulated   bool              `yaml:"simulated"` // the paths are not those of real hardware

	Series SeriesConfig `yaml:"series"` // the document as series, for features

	// KubernetesFile is the node object, as kubectl get node -o json or -o yaml prints it.
	KubernetesFile string `yaml:"kubernetes_file"`
	// TopologyFile adds what no other source tells of devices and links, as an Extra.
	TopologyFile string `yaml:"topology_file"`

	Node    string   `yaml:"-"` // the document's node
	Sources []Source `yaml:"-"` // asked beside the kernel
}

// SeriesConfig says how the document is scraped.
type SeriesConfig struct {
	Enabled  bool            `yaml:"enabled"`
	Interval config.Duration `yaml:"interval"`  // between scrapes; the lookback of a feature is a minute
	MaxLinks int             `yaml:"max_links"` // links that become series, three or four each
}

// PlaceLabels are the Kubernetes labels that say where a node stands, where the keys of the
// same names are empty. An empty one is not looked for.
type PlaceLabels struct {
	Region string `yaml:"region"`
	Zone   string `yaml:"zone"`
	Rack   string `yaml:"rack"`
	Switch string `yaml:"switch"`
}

// Neighbour is what is known of the way to another node.
type Neighbour struct {
	Node      string  `yaml:"node"`
	Latency   float64 `yaml:"latency"`   // s, one way
	Bandwidth float64 `yaml:"bandwidth"` // bytes/s
}

// MaxNeighbours bounds the ways to other nodes: what all nodes of a rack share is said once,
// by the rack.
const MaxNeighbours = 256

// maxSeriesInterval leaves room for one missed scrape within the lookback of a minute.
const maxSeriesInterval = 30 * time.Second

// Defaults reads this host once a minute and sends what changed, and all once an hour.
func Defaults() Config {
	return Config{Enabled: true, Interval: config.Duration(time.Minute), Resend: config.Duration(time.Hour), Topic: topics.Inventory,
		PlaceLabels: PlaceLabels{Region: "topology.kubernetes.io/region", Zone: "topology.kubernetes.io/zone", Rack: "topology.kubernetes.io/rack"},
		Neighbours:  []Neighbour{}, Labels: map[string]string{},
		Series: SeriesConfig{Enabled: true, Interval: config.Duration(20 * time.Second), MaxLinks: schema.MaxSeriesLinks}}
}

// Check reports every fault, each beginning with its key below the given path.
func (c *Config) Check(path string) error {
	var errs []error
	fault := func(bad bool, format string, a ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(path+"."+format, a...))
		}
	}
	fault(c.Interval.D() < time.Second, "interval: %s, want at least 1s", c.Interval.D())
	fault(c.Resend < c.Interval, "resend: %s, want at least the interval", c.Resend.D())
	fault(c.Topic == "", "topic: missing")
	for _, p := range []struct{ key, path string }{{"proc_path", c.ProcPath}, {"sys_path", c.SysPath}, {"rootfs_path", c.RootfsPath}} {
		fault(p.path != "" && !strings.HasPrefix(p.path, "/"), "%s: %q is not an absolute path", p.key, p.path)
	}
	fault(c.Series.Interval.D() < time.Second || c.Series.Interval.D() > maxSeriesInterval, "series.interval: %s, want 1s to %s", c.Series.Interval.D(), maxSeriesInterval)
	fault(c.Series.MaxLinks < 0 || c.Series.MaxLinks > schema.MaxLinks, "series.max_links: %d, want 0 to %d", c.Series.MaxLinks, schema.MaxLinks)
	fault(len(c.Neighbours) > MaxNeighbours, "neighbours: %d, want at most %d", len(c.Neighbours), MaxNeighbours)
	for i, n := range c.Neighbours {
		fault(n.Node == "", "neighbours[%d].node: missing", i)
		fault(n.Latency < 0 || n.Bandwidth < 0, "neighbours[%d]: latency %g, bandwidth %g, want at least 0", i, n.Latency, n.Bandwidth)
	}
	return errors.Join(errs...)
}

// SetPaths fills the paths that the section leaves to the host section.
func (c *Config) SetPaths(proc, sys, rootfs string) {
	for _, p := range []struct {
		own  *string
		from string
	}{{&c.ProcPath, proc}, {&c.SysPath, sys}, {&c.RootfsPath, rootfs}} {
		if *p.own == "" {
			*p.own = p.from
		}
	}
}
