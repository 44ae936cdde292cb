package api

import (
	"errors"
	"net/http"

	"sextant/features"
	"sextant/features/lineage"
	"sextant/internal/httpserve"
)

// describeLineage answers ?feature=view:name, ?metric=canonical_name or ?service=name: one of
// them, once.
func (s *server) describeLineage(w http.ResponseWriter, r *http.Request) {
	what, name, bad := oneOf(r.URL.Query(), "feature", "metric", "service")
	if bad != nil {
		writeError(w, bad)
		return
	}
	var answer any
	var err error
	switch what {
	case "feature":
		var f *lineage.Feature
		if f, err = s.lineage.Feature(name); err == nil {
			answer = s.tracedFeature(f)
		}
	case "metric":
		var m *lineage.Metric
		if m, err = s.lineage.Metric(name); err == nil {
			answer = tracedMetric{m, s.trace(m.Features)}
		}
	case "service":
		var x *lineage.Service
		if x, err = s.lineage.Service(name); err == nil {
			answer = tracedService{x, s.trace(x.Features)}
		}
	}
	if missing := (*lineage.Unknown)(nil); errors.As(err, &missing) {
		writeError(w, &requestError{http.StatusNotFound, what + ": " + missing.Error()})
		return
	}
	httpserve.Answer(w, http.StatusOK, answer)
}

// oneOf is the one parameter of a query that is there, and its value.
func oneOf(query map[string][]string, names ...string) (name, value string, bad *requestError) {
	for _, n := range names {
		switch values := query[n]; {
		case len(values) == 0:
			continue
		case len(values) > 1 || name != "":
			return "", "", &requestError{http.StatusBadRequest, "query: want one of feature, metric and service, once"}
		case values[0] == "":
			return "", "", &requestError{http.StatusBadRequest, n + ": is empty"}
		default:
			name, value = n, values[0]
		}
	}
	if name == "" {
		return "", "", &requestError{http.StatusBadRequest, "query: want feature=view:name, metric=canonical_name or service=name"}
	}
	return name, value, nil
}

// traced is the lineage of a feature beside how fresh it is.
type traced struct {
	*lineage.Feature
	Freshness freshness `json:"freshness"`
}

type tracedMetric struct {
	*lineage.Metric
	Features []traced `json:"features"`
}

type tracedService struct {
	*lineage.Service
	Features []traced `json:"features"`
}

func (s *server) tracedFeature(f *lineage.Feature) traced {
	return traced{f, s.freshness(s.viewOf(f.Ref))}
}

func (s *server) trace(list []lineage.Feature) []traced {
	out := make([]traced, len(list))
	for i := range list {
		out[i] = s.tracedFeature(&list[i])
	}
	return out
}

// viewOf is the view of a feature's whole name.
func (s *server) viewOf(ref string) *features.View {
	for i := range ref {
		if ref[i] == ':' {
			return s.catalog.byRef[ref[:i]]
		}
	}
	panic("BUG: a feature without a view: " + ref)
}
