// Package codec measures the wire codec beside the one that is generated from the same
// protobuf definition, on the scrapes of a fleet, and what the pipeline makes of a scrape.
package codec

import (
	"fmt"
	"io"
	"testing"
	"text/tabwriter"

	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"

	"sextant/internal/testkit/fleet"
	"sextant/schema/wire"
)

// Row is one measured operation.
type Row struct {
	Name             string
	NsPerSample      float64
	BytesPerSample   float64
	AllocsPerMessage float64
}

// Run measures each operation for about a second.
func Run() ([]Row, error) {
	f := fleet.New(1, 1)
	message := f.Record(0, 0, 0).Value
	values := make([]float64, fleet.PerNode)
	template := wire.NewTemplate(f.Series(0))
	var request writev2.Request
	if err := request.Unmarshal(message); err != nil {
		return nil, fmt.Errorf("the generated codec does not read a scrape: %w", err)
	}
	var decoder wire.Decoder
	buffer := make([]byte, 0, 2*len(message))
	testing.Init()
	var rows []Row
	for _, op := range []struct {
		name string
		once func() error
	}{
		{"encode: template", func() error {
			buffer = template.AppendAt(buffer[:0], fleet.Base, values)
			return nil
		}},
		{"encode: generated", func() error {
			_, err := request.Marshal()
			return err
		}},
		{"decode: by hand, with the layout's hash", func() error { return decoder.Scan(message) }},
		{"decode: generated", func() error {
			var r writev2.Request
			return r.Unmarshal(message)
		}},
	} {
		var failed error
		result := testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := op.once(); err != nil {
					failed = err
					return
				}
			}
		})
		if failed != nil {
			return nil, fmt.Errorf("%s: %w", op.name, failed)
		}
		rows = append(rows, Row{
			Name:             op.name,
			NsPerSample:      float64(result.T.Nanoseconds()) / float64(result.N) / fleet.PerNode,
			BytesPerSample:   float64(len(message)) / fleet.PerNode,
			AllocsPerMessage: float64(result.MemAllocs) / float64(result.N),
		})
	}
	row, err := normalise()
	return append(rows, row), err
}

// Print writes the table.
func Print(w io.Writer, rows []Row) error {
	fmt.Fprintf(w, "\ncodec: one scrape of %d samples\n\n", fleet.PerNode)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "ns/sample\tB/sample\tallocs/message\t\n")
	for _, r := range rows {
		fmt.Fprintf(t, "%.1f\t%.1f\t%.2f\t  %s\n", r.NsPerSample, r.BytesPerSample, r.AllocsPerMessage, r.Name)
	}
	return t.Flush()
}
