package promapi

import (
	"net/http"

	jsoniter "github.com/json-iterator/go"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/util/annotations"
	"github.com/prometheus/prometheus/util/jsonutil"
)

// The bytes are those of Prometheus' web/api/v1, whose codec cannot be had without its
// service discovery, rules and stores. What formats numbers is upstream's package.
var json = jsoniter.ConfigCompatibleWithStandardLibrary

// maxNotes is how many warnings, and how many infos, an answer has at most.
const maxNotes = 10

// writeAnswer streams an answer; a large matrix is never held as text.
func writeAnswer(w http.ResponseWriter, a answer, query string) error {
	head(w)
	s := jsoniter.NewStream(json, w, 64<<10)
	s.WriteRaw(`{"status":"success","data":`)
	switch d := a.data.(type) {
	case *queryData:
		writeQuery(s, d)
	case []labels.Labels:
		writeList(s, d, writeLabels)
	default:
		s.WriteVal(d)
	}
	notes := a.from.annotations
	for _, n := range a.notes {
		notes = (&notes).Add(n)
	}
	writeNotes(s, notes, query)
	s.WriteRaw("}")
	if s.Error != nil {
		return s.Error
	}
	return s.Flush()
}

func head(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
}

func writeError(w http.ResponseWriter, e *apiError) {
	text, err := json.Marshal(struct {
		Status string `json:"status"`
		Type   string `json:"errorType"`
		Error  string `json:"error"`
	}{"error", e.kind, e.err.Error()})
	if err != nil {
		panic("BUG: " + err.Error())
	}
	head(w)
	w.WriteHeader(e.status)
	_, _ = w.Write(text) // a client that went away needs no answer
}

func writeNotes(s *jsoniter.Stream, a annotations.Annotations, query string) {
	warnings, infos := a.AsStrings(query, maxNotes, maxNotes)
	for _, n := range []struct {
		name string
		list []string
	}{{"warnings", warnings}, {"infos", infos}} {
		if len(n.list) > 0 {
			s.WriteMore()
			s.WriteObjectField(n.name)
			s.WriteVal(n.list)
		}
	}
}

func writeQuery(s *jsoniter.Stream, d *queryData) {
	s.WriteRaw(`{"resultType":`)
	s.WriteString(string(d.Type))
	s.WriteRaw(`,"result":`)
	switch v := d.Result.(type) {
	case promql.Vector:
		writeList(s, v, writeSample)
	case promql.Matrix:
		writeList(s, v, writeSeries)
	default:
		s.WriteVal(v)
	}
	if d.Stats != nil {
		s.WriteRaw(`,"stats":`)
		s.WriteVal(d.Stats)
	}
	s.WriteRaw("}")
}

// flushAt is how much text waits for the network.
const flushAt = 48 << 10

func writeList[T any](s *jsoniter.Stream, list []T, write func(*jsoniter.Stream, T)) {
	s.WriteArrayStart()
	for i, v := range list {
		if i > 0 {
			s.WriteMore()
		}
		write(s, v)
		if s.Buffered() > flushAt && s.Error == nil {
			_ = s.Flush() // an error stays in the stream
		}
	}
	s.WriteArrayEnd()
}

func writeLabels(s *jsoniter.Stream, ls labels.Labels) {
	s.WriteObjectStart()
	first := true
	ls.Range(func(l labels.Label) {
		if !first {
			s.WriteMore()
		}
		first = false
		s.WriteString(l.Name)
		s.WriteRaw(":")
		s.WriteString(l.Value)
	})
	s.WriteObjectEnd()
}

func writeSample(s *jsoniter.Stream, v promql.Sample) {
	s.WriteRaw(`{"metric":`)
	writeLabels(s, v.Metric)
	if v.H != nil {
		s.WriteRaw(`,"histogram":`)
		writeHistogram(s, promql.HPoint{T: v.T, H: v.H})
	} else {
		s.WriteRaw(`,"value":`)
		writePoint(s, promql.FPoint{T: v.T, F: v.F})
	}
	s.WriteRaw("}")
}

func writeSeries(s *jsoniter.Stream, v promql.Series) {
	s.WriteRaw(`{"metric":`)
	writeLabels(s, v.Metric)
	if len(v.Floats) > 0 {
		s.WriteRaw(`,"values":`)
		writeList(s, v.Floats, writePoint)
	}
	if len(v.Histograms) > 0 {
		s.WriteRaw(`,"histograms":`)
		writeList(s, v.Histograms, writeHistogram)
	}
	s.WriteRaw("}")
}

func writePoint(s *jsoniter.Stream, p promql.FPoint) {
	s.WriteArrayStart()
	jsonutil.MarshalTimestamp(p.T, s)
	s.WriteMore()
	jsonutil.MarshalFloat(p.F, s)
	s.WriteArrayEnd()
}

func writeHistogram(s *jsoniter.Stream, p promql.HPoint) {
	s.WriteArrayStart()
	jsonutil.MarshalTimestamp(p.T, s)
	s.WriteMore()
	jsonutil.MarshalHistogram(p.H, s)
	s.WriteArrayEnd()
}
