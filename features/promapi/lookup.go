package promapi

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
)

// hinted asks the source for one more than is wanted, so that what is cut is known.
func (l lookup) hinted() int {
	if l.limit > 0 && l.limit < math.MaxInt {
		return l.limit + 1
	}
	return l.limit
}

// cut keeps as many as are wanted.
func cut[T any](l lookup, list []T) answer {
	if l.limit > 0 && len(list) > l.limit {
		return answer{data: list[:l.limit], notes: []error{errTruncated}}
	}
	return answer{data: list}
}

func (s *server) series(r *http.Request) (answer, *apiError) {
	if len(r.Form["match[]"]) == 0 {
		return answer{}, badData(errors.New("no match[] parameter provided"))
	}
	l, failed := s.lookupParams(r)
	if failed != nil {
		return answer{}, failed
	}
	q, err := s.source.Querier(l.from, l.to)
	if err != nil {
		return answer{}, s.failure(err)
	}
	defer q.Close()
	hints := &storage.SelectHints{Start: l.from, End: l.to, Func: "series", Limit: l.hinted()} // no samples are wanted
	seen := map[string]labels.Labels{}
	err = l.each(func(ms []*labels.Matcher) error {
		set := q.Select(r.Context(), true, hints, ms...)
		for set.Next() {
			ls := set.At().Labels()
			seen[ls.String()] = ls
		}
		return set.Err()
	})
	if err != nil {
		return answer{}, s.failure(err)
	}
	list := slices.SortedFunc(maps.Values(seen), labels.Compare)
	return cut(l, append([]labels.Labels{}, list...)), nil
}

func (s *server) labelNames(r *http.Request) (answer, *apiError) {
	return s.strings(r, func(q storage.Querier, h *storage.LabelHints, ms []*labels.Matcher) ([]string, error) {
		list, _, err := q.LabelNames(r.Context(), h, ms...)
		return list, err
	})
}

func (s *server) labelValues(r *http.Request) (answer, *apiError) {
	name := r.PathValue("name")
	if strings.HasPrefix(name, "U__") {
		name = model.UnescapeName(name, model.ValueEncodingEscaping)
	}
	if !model.UTF8Validation.IsValidLabelName(name) {
		return answer{}, badData(fmt.Errorf("invalid label name: %q", name))
	}
	return s.strings(r, func(q storage.Querier, h *storage.LabelHints, ms []*labels.Matcher) ([]string, error) {
		list, _, err := q.LabelValues(r.Context(), name, h, ms...)
		return list, err
	})
}

// strings answers with the union over the selectors, sorted.
func (s *server) strings(r *http.Request, ask func(storage.Querier, *storage.LabelHints, []*labels.Matcher) ([]string, error)) (answer, *apiError) {
	l, failed := s.lookupParams(r)
	if failed != nil {
		return answer{}, failed
	}
	q, err := s.source.Querier(l.from, l.to)
	if err != nil {
		return answer{}, s.failure(err)
	}
	defer q.Close()
	seen := map[string]struct{}{}
	err = l.each(func(ms []*labels.Matcher) error {
		list, err := ask(q, &storage.LabelHints{Limit: l.hinted()}, ms)
		for _, v := range list {
			seen[v] = struct{}{}
		}
		return err
	})
	if err != nil {
		return answer{}, s.failure(err)
	}
	return cut(l, append([]string{}, slices.Sorted(maps.Keys(seen))...)), nil
}
