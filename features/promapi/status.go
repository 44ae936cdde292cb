package promapi

import (
	"errors"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/prometheus/prometheus/model/metadata"

	"sextant/schema/catalog"
)

// metadata answers with type, unit and help by name. Each metric has one of each: the
// catalogue's, whoever exposed it.
func (s *server) metadata(r *http.Request) (answer, *apiError) {
	limit, failed := number(r, "limit")
	if failed != nil {
		return answer{}, failed
	}
	if _, failed := number(r, "limit_per_metric"); failed != nil {
		return answer{}, failed
	}
	known, err := s.source.Metadata(r.Context())
	if err != nil {
		return answer{}, s.failure(err)
	}
	out := map[string][]metadata.Metadata{}
	wanted := r.FormValue("metric")
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if wanted != "" && wanted != name {
			continue
		}
		if limit >= 0 && len(out) >= limit {
			break
		}
		m := known[name]
		if m.Help == "" {
			m.Help = helps()[name]
		}
		out[name] = []metadata.Metadata{m}
	}
	return answer{data: out}, nil
}

// number is a parameter that has -1 where it is missing.
func number(r *http.Request, name string) (int, *apiError) {
	text := r.FormValue(name)
	if text == "" {
		return -1, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, badData(errors.New(name + " must be a number"))
	}
	return n, nil
}

// helps are the catalogue's, by canonical name.
var helps = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for _, m := range catalog.Default().Metrics() {
		if out[m.Canonical] == "" {
			out[m.Canonical] = m.Help
		}
	}
	return out
})

// buildInfo has the version of Prometheus whose API this is, since clients choose by it
// what they ask for. Application tells the truth, as Mimir and Thanos do.
func (s *server) buildInfo(*http.Request) (answer, *apiError) {
	return answer{data: map[string]string{
		"application": "Sextant", "version": promVersion, "revision": s.Version, "branch": "", "buildUser": "", "buildDate": "", "goVersion": runtime.Version(),
	}}, nil
}

// promVersion is the release whose API and engine these are (module v0.316).
const promVersion = "3.16.0"

func (s *server) rules(*http.Request) (answer, *apiError) {
	return answer{data: map[string][]any{"groups": {}}}, nil
}

func (s *server) alerts(*http.Request) (answer, *apiError) {
	return answer{data: map[string][]any{"alerts": {}}}, nil
}
