// Package podresources reads from the kubelet which container holds which device, over the
// kubelet's pod-resources socket (service v1.PodResourcesLister). That is allocation: what
// was given away, whether or not it is used.
//
// The service is gRPC. A unary call is one HTTP/2 request with a framed message and a
// status in the trailer, which net/http speaks: no gRPC runtime is linked, so the agent of
// a node costs the same with and without it.
package podresources

import (
	"fmt"
	"path/filepath"
	"time"

	"sextant/internal/config"
)

// Config is the section pod_resources of the agent's configuration.
type Config struct {
	Enabled  bool            `yaml:"enabled"`
	Socket   string          `yaml:"socket"`   // the kubelet's
	Interval config.Duration `yaml:"interval"` // between collections; 0 is global.scrape_interval
}

// Defaults has the kubelet's socket where kubelets have it.
func Defaults() Config { return Config{Socket: "/var/lib/kubelet/pod-resources/kubelet.sock"} }

// Check reports every fault, each beginning with its key below the given path.
func (c Config) Check(path string) error {
	if c.Enabled && !filepath.IsAbs(c.Socket) {
		return fmt.Errorf("%s.socket: %q, want an absolute path", path, c.Socket)
	}
	if c.Interval != 0 && c.Interval.D() < time.Second {
		return fmt.Errorf("%s.interval: %s, want at least 1s", path, c.Interval.D())
	}
	return nil
}
