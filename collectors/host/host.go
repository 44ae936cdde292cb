// Package host runs node_exporter's collectors in this process, so that a host needs no
// second program to tell about its kernel.
//
// node_exporter's collectors read their settings from flags of the process, parsed once,
// and keep the collectors that they made. One process therefore has one host
// configuration: a second New with other settings is refused, and a change needs a
// restart of the agent.
package host

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/node_exporter/collector"

	"sextant/internal/config"
)

// Config says what to read of the host, and where it is mounted.
type Config struct {
	Enabled    bool            `yaml:"enabled"`
	Interval   config.Duration `yaml:"interval"` // 0 is global.scrape_interval
	Collectors []string        `yaml:"collectors"`
	Exclude    []string        `yaml:"exclude"`
	ProcPath   string          `yaml:"proc_path"`
	SysPath    string          `yaml:"sys_path"`
	RootfsPath string          `yaml:"rootfs_path"`
	UdevPath   string          `yaml:"udev_path"`
	// Flags are further node_exporter flags, such as
	// --collector.filesystem.mount-points-exclude=^/(dev|proc)($|/).
	Flags []string `yaml:"flags"`
}

// Defaults reads this host with node_exporter's default collectors, and meminfo_numa.
func Defaults() Config {
	return Config{Enabled: true, ProcPath: "/proc", SysPath: "/sys", RootfsPath: "/", UdevPath: "/run/udev/data"}
}

// Check reports every fault, each beginning with its key below the given path.
func (c Config) Check(path string) error {
	var errs []error
	for key, v := range map[string]string{"proc_path": c.ProcPath, "sys_path": c.SysPath, "rootfs_path": c.RootfsPath, "udev_path": c.UdevPath} {
		if !strings.HasPrefix(v, "/") {
			errs = append(errs, fmt.Errorf("%s.%s: %q is not an absolute path", path, key, v))
		}
	}
	for key, names := range map[string][]string{"collectors": c.Collectors, "exclude": c.Exclude} {
		for _, name := range names {
			if kingpin.CommandLine.GetFlag("collector."+name) == nil {
				errs = append(errs, fmt.Errorf("%s.%s: node_exporter has no collector %q", path, key, name))
			}
		}
	}
	for _, f := range c.Flags {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(f, "--"), "no-"), "=")
		if !strings.HasPrefix(f, "--collector.") && !strings.HasPrefix(f, "--no-collector.") || kingpin.CommandLine.GetFlag(name) == nil {
			errs = append(errs, fmt.Errorf("%s.flags: %q is not one of node_exporter's --collector flags", path, f))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// args is the configuration as node_exporter's command line.
func (c Config) args() []string {
	a := []string{"--path.procfs=" + c.ProcPath, "--path.sysfs=" + c.SysPath,
		"--path.rootfs=" + c.RootfsPath, "--path.udev.data=" + c.UdevPath}
	for _, name := range c.Collectors {
		if !slices.Contains(c.Exclude, name) { // a flag must not be given twice
			a = append(a, "--collector."+name)
		}
	}
	for _, name := range c.Exclude {
		a = append(a, "--no-collector."+name)
	}
	return append(append(a, c.identity()...), c.Flags...)
}

// identity turns on what node_exporter leaves off and a node is known by: the model of its
// CPUs, its cores and its NUMA nodes. Who names collectors, or these, decides alone.
func (c Config) identity() []string {
	told := func(name string) bool {
		return slices.ContainsFunc(c.Flags, func(f string) bool {
			flag, _, _ := strings.Cut(f, "=")
			return flag == "--collector."+name || flag == "--no-collector."+name
		})
	}
	var a []string
	if !told("cpu.info") {
		a = append(a, "--collector.cpu.info") // says nothing without the collector cpu
	}
	if len(c.Collectors) == 0 && !slices.Contains(c.Exclude, "meminfo_numa") && !told("meminfo_numa") {
		a = append(a, "--collector.meminfo_numa")
	}
	return a
}

// applied is the command line that node_exporter's flags of this process were set from.
var applied struct {
	sync.Mutex
	args []string
}

// ErrFixed is returned when the host configuration differs from that of an earlier New.
var ErrFixed = errors.New("host settings are fixed while the process runs: restart the agent to change them")

// New makes the collectors. The result gathers node_* metrics; a collector that fails
// costs its own samples and says so in node_scrape_collector_success.
func New(c Config, log *slog.Logger) (prometheus.Gatherer, error) {
	if err := apply(c); err != nil {
		return nil, err
	}
	nodes, err := collector.NewNodeCollector(slog.New(newTurns(log.Handler())))
	if err != nil {
		return nil, fmt.Errorf("host collectors: %w", err)
	}
	reg := prometheus.NewRegistry()
	if err := reg.Register(nodes); err != nil {
		return nil, fmt.Errorf("host collectors: %w", err)
	}
	return reg, nil
}

func apply(c Config) error {
	applied.Lock()
	defer applied.Unlock()
	args := c.args()
	if applied.args != nil {
		if !slices.Equal(applied.args, args) {
			return ErrFixed
		}
		return nil
	}
	if _, err := kingpin.CommandLine.Parse(args); err != nil {
		return fmt.Errorf("host settings: %w", err)
	}
	if len(c.Collectors) > 0 {
		collector.DisableDefaultCollectors()
	}
	applied.args = args
	return nil
}
