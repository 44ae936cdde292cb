package registry

import (
	"fmt"
	"slices"
	"strings"

	"sextant/features"
)

// Change is one difference between two definitions.
type Change struct {
	Action  string `json:"action"`            // add, change or drop
	Feature string `json:"feature,omitempty"` // empty: of the definition itself
	What    string `json:"what"`              // the key that differs
	Old     string `json:"old,omitempty"`
	New     string `json:"new,omitempty"`
	// Breaks says that rows or vectors would mean something else under the same version.
	Breaks bool `json:"breaks,omitempty"`
}

// The actions of a change.
const (
	Add    = "add"
	Modify = "change"
	Drop   = "drop"
)

// DiffViews lists what b changes in a.
func DiffViews(a, b *features.View) []Change {
	d := differ{}
	d.field("entity", a.Entity, b.Entity, true)
	d.field("keys", strings.Join(a.Keys, ", "), strings.Join(b.Keys, ", "), true)
	d.field("interval", a.Interval.String(), b.Interval.String(), true)
	d.field("tier", a.Tier, b.Tier, false)
	d.field("ttl", a.TTL.String(), b.TTL.String(), false)
	d.field("owner", a.Owner, b.Owner, false)
	d.field("description", a.Description, b.Description, false)
	d.field("source", sourceOf(a), sourceOf(b), true)
	d.field("sql", a.SQL, b.SQL, true)
	for i := range b.Features {
		d.features(find(a, b.Features[i].Name), &b.Features[i])
	}
	for i := range a.Features {
		if f := &a.Features[i]; find(b, f.Name) == nil {
			d.changes = append(d.changes, Change{Action: Drop, Feature: f.Name, What: "feature", Old: f.DType.String() + " " + f.Unit})
		}
	}
	return d.changes
}

// sourceOf is "push", or nothing where the rows are computed here.
func sourceOf(v *features.View) string {
	if v.Push {
		return "push"
	}
	return ""
}

func find(v *features.View, name string) *features.Feature {
	if i := slices.IndexFunc(v.Features, func(f features.Feature) bool { return f.Name == name }); i >= 0 {
		return &v.Features[i]
	}
	return nil
}

// DiffServices lists what b changes in a: places, and what stands in them.
func DiffServices(a, b *features.Service) []Change {
	d := differ{}
	for i := range max(len(a.Columns), len(b.Columns)) {
		d.field(fmt.Sprintf("place %d", i), place(a, i), place(b, i), true)
	}
	d.field("owner", a.Owner, b.Owner, false)
	d.field("description", a.Description, b.Description, false)
	d.field("model", a.Model, b.Model, false)
	return d.changes
}

// place is what a model relies on in one place of its vector.
func place(s *features.Service, i int) string {
	if i >= len(s.Columns) {
		return ""
	}
	c := s.Columns[i]
	text := fmt.Sprintf("%s %s %s", c.Ref(), c.Def().DType, c.Def().Unit)
	if d := c.Def().Default; d != nil {
		text += fmt.Sprintf(" default %g", *d)
	}
	return text
}

type differ struct {
	feature string
	changes []Change
}

// field notes a difference. Of two empty values, or equal ones, there is none.
func (d *differ) field(what, a, b string, breaks bool) {
	if a != b {
		d.changes = append(d.changes, Change{Action: Modify, Feature: d.feature, What: what, Old: a, New: b, Breaks: breaks})
	}
}

// features compares a feature; a nil a is a new one.
func (d *differ) features(a, b *features.Feature) {
	if a == nil {
		d.changes = append(d.changes, Change{Action: Add, Feature: b.Name, What: "feature", New: b.DType.String() + " " + b.Unit})
		return
	}
	d.feature = b.Name
	if a.Canonical() != b.Canonical() {
		d.field("expr", a.Expr, b.Expr, true)
	}
	d.field("label", a.Label, b.Label, true)
	d.field("dtype", a.DType.String(), b.DType.String(), true)
	d.field("unit", a.Unit, b.Unit, true)
	d.field("min", number(a.Min), number(b.Min), true)
	d.field("max", number(a.Max), number(b.Max), true)
	d.field("default", number(a.Default), number(b.Default), false)
	d.field("description", a.Description, b.Description, false)
	d.feature = ""
}

func number(x *float64) string {
	if x == nil {
		return "none"
	}
	return fmt.Sprint(*x)
}
