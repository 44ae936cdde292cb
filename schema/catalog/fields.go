package catalog

import (
	"math"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// text returns a string that must be there.
func (l *loader) text(keys map[string]*yaml.Node, parent *yaml.Node, key string) string {
	n, ok := keys[key]
	if !ok {
		l.fault(parent, "%s is missing", key)
		return ""
	}
	if n.Kind != yaml.ScalarNode || n.Value == "" {
		l.fault(n, "%s is empty, or no text", key)
		return ""
	}
	return n.Value
}

var metricName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)

// name returns a metric name. Sources may use any UTF-8; canonical names are plain.
func (l *loader) name(keys map[string]*yaml.Node, parent *yaml.Node, key string) string {
	name := l.text(keys, parent, key)
	if key == "canonical" && name != "" && !metricName.MatchString(name) {
		l.fault(keys[key], "canonical name %q has other characters than letters, digits, _ and :", name)
	}
	return name
}

// limits returns the range. A counter has none below 0, whatever its unit.
func (l *loader) limits(keys map[string]*yaml.Node, parent *yaml.Node, kind Kind) (least, most *float64) {
	if n, ok := keys["min"]; ok {
		least = l.number(n)
	} else if kind == Counter {
		least = new(float64)
	}
	if n, ok := keys["max"]; ok {
		most = l.number(n)
	}
	if least != nil && most != nil && *least >= *most {
		l.fault(parent, "min %v is not below max %v", *least, *most)
	}
	return least, most
}

// number returns a finite number, or nil and a fault.
func (l *loader) number(n *yaml.Node) *float64 {
	v, err := strconv.ParseFloat(n.Value, 64)
	if n.Kind != yaml.ScalarNode || err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		l.fault(n, "%q is not a finite number", n.Value)
		return nil
	}
	return &v
}

// numbers returns a list of numbers, in which a word stands for a list of the file.
func (l *loader) numbers(n *yaml.Node) []float64 {
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		l.fault(n, "blank is no list")
		return nil
	}
	var all []float64
	for _, item := range n.Content {
		if named, ok := l.blanks[item.Value]; ok {
			all = append(all, named...)
		} else if v := l.number(item); v != nil {
			all = append(all, *v)
		}
	}
	return all
}
