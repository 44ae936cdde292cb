package features

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Service is a feature service: the features that one model version reads, in its order.
// Order and shape are a contract: they never change under one version.
type Service struct {
	Name        string
	Version     int
	Owner       string
	Description string
	Model       string   // the model that reads it; may be empty
	Keys        []string // join keys of all its views together
	Columns     []ServiceColumn
	File        string
	Line        int // line of the name in File
}

// ServiceColumn is one place of a service's vector.
type ServiceColumn struct {
	View    *View
	Feature int    // index into View.Features
	As      string // names the view in answers: "view", or "view@v2" beside another version of it
}

// Def is the feature in the column.
func (c ServiceColumn) Def() *Feature { return &c.View.Features[c.Feature] }

// Ref names the column with its view's version: "node_static@v1:cpu_count".
func (c ServiceColumn) Ref() string { return c.View.Ref() + ":" + c.Def().Name }

// Name is what Feast calls the column: the feature, or in full "view__feature".
func (c ServiceColumn) Name(full bool) string {
	if full {
		return c.As + "__" + c.Def().Name
	}
	return c.Def().Name
}

// ColumnNames names columns as Feast does. Two of one name are an error.
func ColumnNames(columns []ServiceColumn, full bool) ([]string, error) {
	names, first := make([]string, len(columns)), make(map[string]ServiceColumn, len(columns))
	for i, c := range columns {
		names[i] = c.Name(full)
		if other, ok := first[names[i]]; ok {
			return nil, fmt.Errorf("features[%d]: %q and %q are both called %s; full_feature_names tells views apart",
				i, other.As+":"+other.Def().Name, c.As+":"+c.Def().Name, names[i])
		}
		first[names[i]] = c
	}
	return names, nil
}

// Ref names one version of the service: "node_state@v1".
func (s *Service) Ref() string { return fmt.Sprintf("%s@v%d", s.Name, s.Version) }

// Views are the views that the service reads, in the order in which it needs them.
func (s *Service) Views() []*View {
	var views []*View
	for _, c := range s.Columns {
		if !slices.Contains(views, c.View) {
			views = append(views, c.View)
		}
	}
	return views
}

// Hash is the SHA-256, in hex, of what a model relies on: which feature of which view
// version stands in which place, its type, and what is served where it has no value.
// Texts that only people read are left out.
func (s *Service) Hash() string {
	var b strings.Builder
	for _, c := range s.Columns {
		f := c.Def()
		fmt.Fprintf(&b, "%s %s %s %s\n", c.Ref(), f.DType, f.Unit, optional(f.Default))
	}
	return hash(b.String())
}

// Hash is the SHA-256, in hex, of what the view's rows mean: keys, interval, and for each
// feature its expression, however it is laid out, type, unit and range. The SQL of a view counts to the
// letter.
func (v *View) Hash() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s\n", v.Entity, strings.Join(v.Keys, ","), v.Interval)
	if v.Push {
		fmt.Fprintf(&b, "%s\n", sourcePush)
	}
	if v.SQL != "" {
		fmt.Fprintf(&b, "%q\n", v.SQL)
	}
	for i := range v.Features {
		f := &v.Features[i]
		fmt.Fprintf(&b, "%s %s %s %s %s %s %q\n", f.Name, f.DType, f.Label, f.Unit, optional(f.Min), optional(f.Max), f.Canonical())
	}
	return hash(b.String())
}

// Canonical is the expression in the parser's own layout, so that spaces, line breaks and
// comments make no difference.
func (f *Feature) Canonical() string {
	expr, err := Parse(f.Expr)
	if err != nil {
		return f.Expr
	}
	return expr.String()
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// optional is a number, or "none".
func optional(x *float64) string {
	if x == nil {
		return "none"
	}
	return fmt.Sprint(*x)
}
