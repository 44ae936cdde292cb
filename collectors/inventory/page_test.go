package inventory

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// kernelOf is the kernel that a page tells of.
func kernelOf(families []*dto.MetricFamily) string {
	for _, f := range families {
		if f.GetName() != "inventory_node_info" {
			continue
		}
		for _, l := range f.Metric[0].Label {
			if l.GetName() == "kernel" {
				return l.GetValue()
			}
		}
	}
	return ""
}

// The page follows the node, also while Kafka is away: its series wait in the spool.
func TestPageFollowsTheNode(t *testing.T) {
	report(t, virtualNode, nil, func(m *machine, w *way2kafka) {
		gather := func() []*dto.MetricFamily {
			families, err := w.page.Gather()
			m.check(err)
			return families
		}
		first := gather()
		if kernelOf(first) == "" {
			t.Fatalf("%d families without a kernel", len(first))
		}
		pass(10 * time.Minute)
		if again := gather(); &again[0] != &first[0] {
			t.Error("an unchanged node has another page")
		}
		w.fail(errors.New("no broker"))
		m.write("proc/sys/kernel/osrelease", "6.99.0")
		pass(2 * time.Minute)
		if got := kernelOf(gather()); got != "6.99.0" {
			t.Errorf("kernel %q on the page", got)
		}
		if kernelOf(first) == "6.99.0" {
			t.Error("a page that was handed out has changed")
		}
	})
}

// The first scrape waits for the first reading, but not for ever.
func TestFirstScrapeWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPage(1)
		begun := time.Now()
		if families, err := p.Gather(); err != nil || len(families) != 0 || time.Since(begun) != firstReading {
			t.Errorf("%d families, %v after %s", len(families), err, time.Since(begun))
		}
		done := make(chan int)
		go func() {
			families, _ := p.Gather()
			done <- len(families)
		}()
		time.Sleep(time.Second)
		d := &Document{Node: "n1"}
		if err := d.Seal(); err != nil {
			t.Fatal(err)
		}
		p.Set(d)
		if n := <-done; n == 0 || time.Since(begun) != firstReading+time.Second {
			t.Errorf("%d families after %s", n, time.Since(begun))
		}
	})
}

// A scrape of an unchanged node makes nothing.
func BenchmarkGatherPage(b *testing.B) {
	m := newMachine(b)
	gpuNode(m)
	d, err := Read(b.Context(), m.config())
	m.check(err)
	p := NewPage(1024)
	b.ReportAllocs()
	for b.Loop() {
		p.Set(d)
		if _, err := p.Gather(); err != nil {
			b.Fatal(err)
		}
	}
}
