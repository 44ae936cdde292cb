package deploy

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"
)

// manifest is what the tests look at of a Kubernetes object.
type manifest struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	Rules    []struct{ Resources, Verbs []string }
	Data     map[string]string
	Spec     struct {
		Template struct {
			Spec struct {
				ServiceAccountName string `yaml:"serviceAccountName"`
				SecurityContext    struct {
					RunAsNonRoot bool `yaml:"runAsNonRoot"`
				} `yaml:"securityContext"`
				Containers []struct {
					SecurityContext struct {
						AllowPrivilegeEscalation *bool                   `yaml:"allowPrivilegeEscalation"`
						ReadOnlyRootFilesystem   bool                    `yaml:"readOnlyRootFilesystem"`
						Capabilities             struct{ Drop []string } `yaml:"capabilities"`
					} `yaml:"securityContext"`
				}
			}
		}
	}
}

// manifests are the objects of all files that the kustomization names.
func manifests(t *testing.T) (all []manifest) {
	t.Helper()
	var kustomization struct{ Resources []string }
	text, err := os.ReadFile("kubernetes/kustomization.yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &kustomization)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range kustomization.Resources {
		text, err := os.ReadFile(filepath.Join("kubernetes", name))
		if err != nil {
			t.Fatal(err)
		}
		for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
			var m manifest
			if d.Decode(&m) != nil {
				break
			}
			all = append(all, m)
		}
	}
	return all
}

// TestKubernetesRoleReads: the watcher writes its lease and nothing else.
func TestKubernetesRoleReads(t *testing.T) {
	rules, pods := 0, 0
	for _, m := range manifests(t) {
		for _, r := range m.Rules {
			rules++
			if len(r.Resources) == 1 && r.Resources[0] == "leases" && m.Kind == "Role" {
				continue
			}
			for _, v := range r.Verbs {
				if v != "get" && v != "list" && v != "watch" {
					t.Errorf("%s %s lets it %s %v", m.Kind, m.Metadata.Name, v, r.Resources)
				}
			}
		}
		for _, c := range m.Spec.Template.Spec.Containers {
			pods++
			s := c.SecurityContext
			if s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || !s.ReadOnlyRootFilesystem || len(s.Capabilities.Drop) != 1 ||
				!m.Spec.Template.Spec.SecurityContext.RunAsNonRoot {
				t.Errorf("%s %s may do more than it needs: %+v", m.Kind, m.Metadata.Name, s)
			}
		}
	}
	if rules < 5 || pods != 1 {
		t.Errorf("%d rules, %d containers: the files were not read", rules, pods)
	}
}
