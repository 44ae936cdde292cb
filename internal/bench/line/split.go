package line

import (
	"os"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// Part is a share of the pipeline's CPU time.
type Part struct {
	Name    string
	Seconds float64
}

// parts of the pipeline, told by the first of their names on the stack, the innermost
// function first. What has none of them is the runtime's.
var parts = []struct{ prefix, name string }{
	{"sextant/pipeline/kafka.", "read from Kafka, decompress"},
	{"sextant/schema/wire.", "decode"},
	{"sextant/pipeline/window.", "windows"},
	{"github.com/prometheus/prometheus/promql", "evaluate features"},
	{"sextant/pipeline/evaluate.", "evaluate features"},
	{"sextant/internal/clickhouse.", "build and send columns"},
	{"github.com/ClickHouse/", "build and send columns"},
	{"sextant/pipeline.", "normalise, columns, ticks"},
}

// split reads a CPU profile and adds up its parts, the largest first.
func split(path string) ([]Part, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		return nil, err
	}
	sum := map[string]float64{}
	for _, s := range p.Sample {
		sum[partOf(s)] += float64(s.Value[len(s.Value)-1]) / 1e9 // the last value is CPU time, ns
	}
	var out []Part
	for name, seconds := range sum {
		out = append(out, Part{name, seconds})
	}
	slices.SortFunc(out, func(a, b Part) int {
		if a.Seconds != b.Seconds {
			return int((b.Seconds - a.Seconds) * 1e9)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out, nil
}

func partOf(s *profile.Sample) string {
	for _, l := range s.Location {
		for _, line := range l.Line {
			if line.Function == nil {
				continue
			}
			for _, p := range parts {
				if strings.HasPrefix(line.Function.Name, p.prefix) {
					return p.name
				}
			}
		}
	}
	return "Go runtime and the rest"
}
