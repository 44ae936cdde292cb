// Package deploy holds what ships Sextant, and the tests that it is well formed.
package deploy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// project loads docker-compose.yml as Docker Compose does: schema, interpolation,
// merges, dependencies.
func project(t *testing.T) *types.Project {
	t.Helper()
	opts, err := cli.NewProjectOptions([]string{"../docker-compose.yml"}, cli.WithResolvedPaths(true))
	if err != nil {
		t.Fatal(err)
	}
	p, err := opts.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestComposeHoldsTheWholeLine(t *testing.T) {
	p := project(t)
	for _, name := range []string{"kafka", "clickhouse", "grafana", "node-exporter", "agent", "pipeline", "api", "ingest"} {
		if _, err := p.GetService(name); err != nil {
			t.Errorf("service %s: %v", name, err)
		}
	}
}

func TestComposePublishesOnLoopbackOnly(t *testing.T) {
	for _, s := range project(t).Services {
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("service %s publishes %s on %q", s.Name, port.Published, port.HostIP)
			}
		}
	}
}

func TestComposeHoldsNoSecret(t *testing.T) {
	for _, s := range project(t).Services {
		for key, value := range s.Environment {
			secret := strings.Contains(key, "PASSWORD") || strings.Contains(key, "TOKEN") || strings.Contains(key, "SECRET")
			if secret && !strings.HasSuffix(key, "_FILE") {
				t.Errorf("service %s: %s=%q: secrets come from files", s.Name, key, *value)
			}
		}
	}
}

// TestComposeMountsWhatExists: a bind mount of a missing file makes Docker create a folder
// in its place, and the service fails in a way that is hard to read.
func TestComposeMountsWhatExists(t *testing.T) {
	secrets, err := filepath.Abs("secrets")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("secrets.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range project(t).Services {
		for _, v := range s.Volumes {
			if v.Type != types.VolumeTypeBind {
				continue
			}
			if strings.HasPrefix(v.Source, secrets) {
				name, _, _ := strings.Cut(filepath.Base(v.Source), ".")
				if !strings.Contains(string(script), name) {
					t.Errorf("service %s mounts %s, which secrets.sh does not make", s.Name, filepath.Base(v.Source))
				}
				continue
			}
			if _, err := os.Stat(v.Source); err != nil {
				t.Errorf("service %s: %v", s.Name, err)
			}
		}
	}
}
