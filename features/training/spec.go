package training

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sextant/features"
)

// Parameters are the names that SpecOf asks for.
var Parameters = []string{"service", "features", "timestamp", "full_feature_names", "statuses", "as_corrected"}

// maxFeatures is how many features a set may have: as many as a service.
const maxFeatures = 1000

// SpecOf reads a spec from named texts, which are the flags of the command and the
// parameters of the API: service, or features as view:feature,…; timestamp;
// full_feature_names, statuses and as_corrected as true or false.
func SpecOf(set *features.Set, text func(name string) string) (Spec, error) {
	spec := Spec{Timestamp: text("timestamp")}
	for _, b := range []struct {
		name string
		to   *bool
	}{{"full_feature_names", &spec.FullNames}, {"statuses", &spec.Statuses}, {"as_corrected", &spec.AsCorrected}} {
		var err error
		if s := text(b.name); s != "" {
			if *b.to, err = strconv.ParseBool(s); err != nil {
				return spec, fmt.Errorf("%s: %.20q is neither true nor false", b.name, s)
			}
		}
	}
	var err error
	switch service, list := text("service"), text("features"); {
	case (service == "") == (list == ""):
		return spec, errors.New("want a service, or features as view:feature,…")
	case service != "":
		s, ok := set.Service(service)
		if !ok {
			return spec, fmt.Errorf("service %.100q is not defined", service)
		}
		spec.Service, spec.Columns = s.Ref(), s.Columns
	default:
		spec.Columns, err = columnsOf(set, strings.Split(list, ","))
	}
	return spec, err
}

func columnsOf(set *features.Set, refs []string) ([]features.ServiceColumn, error) {
	if len(refs) > maxFeatures {
		return nil, fmt.Errorf("features: %d, at most %d", len(refs), maxFeatures)
	}
	columns := make([]features.ServiceColumn, len(refs))
	for i, ref := range refs {
		view, name, ok := strings.Cut(strings.TrimSpace(ref), ":")
		if !ok {
			return nil, fmt.Errorf("features[%d]: %.100q has no view: want view:feature", i, ref)
		}
		v, ok := set.View(view)
		if !ok {
			return nil, fmt.Errorf("features[%d]: view %.100q is not defined", i, view)
		}
		f := slices.IndexFunc(v.Features, func(f features.Feature) bool { return f.Name == name })
		if f < 0 {
			return nil, fmt.Errorf("features[%d]: view %s has no feature %.100q", i, view, name)
		}
		columns[i] = features.ServiceColumn{View: v, Feature: f, As: view}
	}
	return columns, nil
}
