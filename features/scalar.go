package features

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	yaml "go.yaml.in/yaml/v3"
)

// mapping splits n into its values by key, and notes keys that are unknown or there
// twice. Aliases are refused everywhere: they hide where a fault stands.
func (d *decoder) mapping(n *yaml.Node, known ...string) (map[string]*yaml.Node, bool) {
	if n.Kind != yaml.MappingNode {
		d.fault(n, "want a mapping with the keys %s", strings.Join(known, ", "))
		return nil, false
	}
	m := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch first, twice := m[key.Value]; {
		case !slices.Contains(known, key.Value):
			d.fault(key, "unknown key %q: want %s", key.Value, strings.Join(known, ", "))
		case twice:
			d.fault(key, "key %q is already set at line %d", key.Value, first.Line)
		case value.Kind == yaml.AliasNode:
			d.fault(value, "%s: aliases are not supported", key.Value)
		default:
			m[key.Value] = value
		}
	}
	return m, true
}

// required notes that key is missing from parent, and says whether it is there.
func (d *decoder) required(parent, n *yaml.Node, key string) bool {
	if n == nil {
		d.fault(parent, "%s is missing", key)
	}
	return n != nil
}

func (d *decoder) scalar(n *yaml.Node, key string) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		d.fault(n, "%s: want one value", key)
		return ""
	}
	return n.Value
}

func (d *decoder) name(n *yaml.Node, key string) string {
	s := d.scalar(n, key)
	if len(s) > maxName || !nameForm.MatchString(s) {
		d.fault(n, "%s: %q is no name: want lower-case words joined by single _, up to %d bytes", key, n.Value, maxName)
	}
	return s
}

func (d *decoder) text(n *yaml.Node, key string) string {
	s := strings.TrimSpace(d.scalar(n, key))
	if s == "" || len(s) > maxText {
		d.fault(n, "%s: want 1 to %d bytes of text, not %d", key, maxText, len(s))
	}
	return s
}

func (d *decoder) oneOf(n *yaml.Node, key string, allowed []string) string {
	s := d.scalar(n, key)
	if !slices.Contains(allowed, s) {
		d.fault(n, "%s: %q is none of %s", key, n.Value, strings.Join(allowed, ", "))
	}
	return s
}

// duration reads a duration as Prometheus writes them: "10s", "1m30s", "1d".
func (d *decoder) duration(n *yaml.Node, key string) time.Duration {
	t, err := model.ParseDuration(d.scalar(n, key))
	if err != nil || t <= 0 {
		d.fault(n, "%s: %q is no duration above 0, like 10s or 5m", key, n.Value)
		return 0
	}
	return time.Duration(t)
}

func (d *decoder) number(n *yaml.Node, key string) *float64 {
	if n == nil {
		return nil
	}
	x, err := strconv.ParseFloat(d.scalar(n, key), 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		d.fault(n, "%s: %q is no finite number", key, n.Value)
		return nil
	}
	return &x
}
