//go:build cgo && linux

package dcgm

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// BenchmarkCollect is one collection of 8 GPUs with 18 NVLinks each, the library's answers
// included (they are read from a text file each time, so time is the fake's; what counts
// is the memory).
func BenchmarkCollect(b *testing.B) {
	var s strings.Builder
	for g := range 8 {
		fmt.Fprintf(&s, "entity 1 %d\nset 1 %d 54 s GPU-%d\nset 1 %d 50 s NVIDIA H100 80GB HBM3\nset 1 %d 203 i 50\nset 1 %d 155 d 300\n", g, g, g, g, g, g)
		for l := range 18 {
			fmt.Fprintf(&s, "link gpu %d %d 3\n", g, l)
		}
	}
	if err := os.WriteFile(os.Getenv("SEXTANT_FAKE_DCGM"), []byte(s.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	path := b.TempDir() + "/engine"
	l := listenUnix(b, path)
	defer l.Close()
	cfg := Defaults()
	cfg.Address = path
	c := New(cfg, 10*time.Second, slog.New(slog.DiscardHandler))
	collect := func() (n int) {
		ch := make(chan prometheus.Metric, 1<<14)
		c.Collect(ch)
		return len(ch)
	}
	if n := collect(); n < 200 {
		b.Fatalf("%d samples", n)
	}
	b.ReportAllocs()
	for b.Loop() {
		collect()
	}
	b.StopTimer()
	if err := c.Close(); err != nil {
		b.Fatal(err)
	}
}
