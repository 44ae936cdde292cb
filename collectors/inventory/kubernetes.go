package inventory

import (
	"errors"
	"fmt"
	"io"
	"os"

	"go.yaml.in/yaml/v3"

	schema "sextant/schema/inventory"
)

// kubernetesNode is what is read of a node object. Annotations change all the time, and
// the rest of the status is telemetry.
type kubernetesNode struct {
	Kind     string `yaml:"kind"`
	Metadata struct {
		Name   string            `yaml:"name"`
		Labels map[string]string `yaml:"labels"`
	} `yaml:"metadata"`
	Spec struct {
		Unschedulable bool `yaml:"unschedulable"`
		Taints        []struct {
			Key, Value, Effect string
		} `yaml:"taints"`
	} `yaml:"spec"`
	Status struct {
		Allocatable map[string]string `yaml:"allocatable"`
		Capacity    map[string]string `yaml:"capacity"`
	} `yaml:"status"`
}

// kubernetes reads the node object from its file.
func (r *reader) kubernetes() {
	if r.cfg.KubernetesFile == "" {
		return
	}
	var n kubernetesNode
	if err := readYAML(r.cfg.KubernetesFile, &n); err != nil {
		r.fault("kubernetes_file: %s", plain(err))
		return
	}
	if n.Kind != "" && n.Kind != "Node" {
		r.fault("kubernetes_file: kind is %q, want Node", n.Kind)
		return
	}
	k := &schema.Kubernetes{Name: n.Metadata.Name, Labels: n.Metadata.Labels, Allocatable: n.Status.Allocatable,
		Capacity: n.Status.Capacity, Cordoned: n.Spec.Unschedulable}
	for _, t := range n.Spec.Taints {
		k.Taints = append(k.Taints, schema.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
	}
	r.doc.Kubernetes = k
}

// maxYAML bounds a file that the configuration names.
const maxYAML = 1 << 20

// readYAML reads a file of YAML or JSON, which is YAML too. Unknown keys are not read.
func readYAML(path string, into any) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxYAML+1))
	if err != nil {
		return err
	}
	if len(b) > maxYAML {
		return fmt.Errorf("larger than %d bytes", maxYAML)
	}
	if len(b) == 0 {
		return errors.New("empty")
	}
	return yaml.Unmarshal(b, into)
}
