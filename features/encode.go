package features

import (
	"time"

	"github.com/prometheus/common/model"
	yaml "go.yaml.in/yaml/v3"
)

// viewFile is a view as its file writes it, keys in the order to read them.
type viewFile struct {
	View        string        `yaml:"view"`
	Version     int           `yaml:"version"`
	Entity      string        `yaml:"entity"`
	Keys        []string      `yaml:"keys,flow"`
	Tier        string        `yaml:"tier"`
	Interval    string        `yaml:"interval"`
	TTL         string        `yaml:"ttl"`
	Owner       string        `yaml:"owner"`
	Description string        `yaml:"description"`
	Source      string        `yaml:"source,omitempty"`
	SQL         string        `yaml:"sql,omitempty"`
	Features    []featureFile `yaml:"features"`
}

type featureFile struct {
	Name        string   `yaml:"name"`
	Expr        string   `yaml:"expr,omitempty"`
	Label       string   `yaml:"label,omitempty"`
	DType       string   `yaml:"dtype"`
	Unit        string   `yaml:"unit"`
	Default     *float64 `yaml:"default,omitempty"`
	Min         *float64 `yaml:"min,omitempty"`
	Max         *float64 `yaml:"max,omitempty"`
	Description string   `yaml:"description"`
}

type serviceFile struct {
	Service     string   `yaml:"service"`
	Version     int      `yaml:"version"`
	Owner       string   `yaml:"owner"`
	Description string   `yaml:"description"`
	Model       string   `yaml:"model,omitempty"`
	Keys        []string `yaml:"keys,flow"`
	Width       int      `yaml:"width"`
	Features    []string `yaml:"features"`
}

// YAML is the view as a definition that reads back as an equal one. Shared fragments are
// written out.
func (v *View) YAML() string {
	f := viewFile{View: v.Name, Version: v.Version, Entity: v.Entity, Keys: v.Keys, Tier: v.Tier,
		Interval: duration(v.Interval), TTL: duration(v.TTL), Owner: v.Owner, Description: v.Description, SQL: v.SQL}
	if v.Push {
		f.Source = sourcePush
	}
	for i := range v.Features {
		x := &v.Features[i]
		f.Features = append(f.Features, featureFile{Name: x.Name, Expr: x.Expr, Label: x.Label, DType: x.DType.String(), Unit: x.Unit,
			Default: x.Default, Min: x.Min, Max: x.Max, Description: x.Description})
	}
	return marshal(f)
}

// YAML is the service as a definition that reads back as an equal one. Every view has its
// version, so that it means the same beside a newer one.
func (s *Service) YAML() string {
	f := serviceFile{Service: s.Name, Version: s.Version, Owner: s.Owner, Description: s.Description, Model: s.Model, Keys: s.Keys, Width: len(s.Columns)}
	for _, c := range s.Columns {
		f.Features = append(f.Features, c.Ref())
	}
	return marshal(f)
}

func duration(d time.Duration) string { return model.Duration(d).String() }

func marshal(x any) string {
	text, err := yaml.Marshal(x)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return string(text)
}
