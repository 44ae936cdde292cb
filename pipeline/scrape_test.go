package pipeline_test

import (
	"github.com/prometheus/prometheus/model/labels"
	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"
)

// scrape builds a request with the generated codec, so that the machine is tested on
// bytes that our own encoder did not make. Samples of one series that come one after
// another share it.
type scrape struct {
	symbols writev2.SymbolsTable
	request writev2.Request
	last    labels.Labels
}

func (s *scrape) add(ls labels.Labels, t int64, v float64) {
	ts := s.request.Timeseries
	if len(ts) == 0 {
		s.symbols = writev2.NewSymbolTable()
	}
	sample := writev2.Sample{Timestamp: t, Value: v}
	if n := len(ts); n > 0 && labels.Equal(s.last, ls) && ts[n-1].Samples[0].Timestamp != t {
		ts[n-1].Samples = append(ts[n-1].Samples, sample)
		return
	}
	s.last = ls
	s.request.Timeseries = append(ts, writev2.TimeSeries{
		LabelsRefs: s.symbols.SymbolizeLabels(ls, nil),
		Samples:    []writev2.Sample{sample},
	})
}

func (s *scrape) encode() []byte {
	s.request.Symbols = s.symbols.Symbols()
	b, err := s.request.Marshal()
	if err != nil {
		panic(err)
	}
	return b
}
