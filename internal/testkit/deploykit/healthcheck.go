package deploykit

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Healthcheck gives the arguments of a service's health check in docker-compose.yml, as
// they read on this machine: with its mounts, as for Mounted, and with the port of bound
// in place of the one of listen, which the service's configuration names.
func Healthcheck(root, service, secrets string, mounts map[string]string, listen, bound string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(root, "docker-compose.yml"))
	if err != nil {
		return nil, err
	}
	var project struct {
		Services map[string]struct {
			Healthcheck struct{ Test []string }
		}
	}
	if err := yaml.Unmarshal(text, &project); err != nil {
		return nil, err
	}
	test := project.Services[service].Healthcheck.Test
	if len(test) < 3 || test[0] != "CMD" {
		return nil, fmt.Errorf("service %s: health check %q", service, test)
	}
	_, want, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, err
	}
	args := test[2:]
	for i, a := range args {
		if name, ok := mounts[a]; ok {
			args[i] = filepath.Join(secrets, name)
		}
		if scheme, addr, ok := strings.Cut(a, "://"); ok {
			if _, port, err := net.SplitHostPort(addr); err != nil || port != want {
				return nil, fmt.Errorf("service %s listens on %s, and its health check asks %s", service, listen, addr)
			}
			args[i] = scheme + "://" + bound
		}
	}
	return args, nil
}
