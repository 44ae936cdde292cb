package main

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// watching is what the demo's progress view needs.
type watching struct {
	screen    *screen
	reg       prometheus.Gatherer
	ask       *question
	sql       string // URL of ClickHouse
	simulated bool   // there are devices that do not exist
	began     time.Time
	duration  time.Duration
}

// watch shows what the line does until ctx ends or the duration is over. It prints the
// first answer that holds a feature, and the first that lacks none: features over a
// minute need a minute's beginning, and what is static is evaluated less often.
func watch(ctx context.Context, w watching) {
	var over <-chan time.Time
	if w.duration > 0 {
		over = time.After(w.duration)
	}
	second := time.NewTicker(time.Second)
	defer second.Stop()
	first, all := true, true // still to be announced
	for n := 0; ; n++ {
		answer, err := w.ask.Ask(ctx, w.ask.features)
		if err != nil {
			answer.summary = "no answer yet"
		}
		switch {
		case all && answer.Complete(len(w.ask.features)):
			first, all = false, false
			w.announce(ctx, "every feature is served", answer.present)
		case first && answer.fresh:
			first = false
			w.announce(ctx, "the first features are served", answer.present)
		}
		if w.screen.tty || n%10 == 0 {
			w.screen.Show(append(w.lines(), "features   "+answer.summary))
		}
		select {
		case <-second.C:
		case <-over:
			return
		case <-ctx.Done():
			return
		}
	}
}

// announce prints the question about the named features, and the answer to exactly that.
func (w watching) announce(ctx context.Context, what string, names []string) {
	answer, err := w.ask.Ask(ctx, names)
	if err != nil {
		return // stopping
	}
	w.screen.Print(`
%s, %.0f s after the start.

  %s

%s

the cluster in a browser:

  %s/console/

the same in SQL:

  curl -s %s -d "SELECT * FROM sextant.node_monitoring WHERE node = '%s' ORDER BY tick DESC LIMIT 1 FORMAT Vertical"

and in PromQL (a Prometheus data source of Grafana takes the same address):

  curl -s %s --data-urlencode "query=avg by (node) (feature:node_monitoring:cpu_utilization_1m) or up"
`, what, time.Since(w.began).Seconds(), w.ask.Curl(names), answer.text, w.ask.base, w.sql, w.ask.node, w.ask.base+"/api/v1/query")
	if w.simulated && len(names) == len(w.ask.features) {
		w.screen.Print(`devices of every vendor, with one meaning (simulated ones here):

  curl -s %s -d "SELECT vendor, count(), avg(busy_ratio), sum(mem_used_bytes), sum(power_watts) FROM sextant.accelerators WHERE slice = '' GROUP BY vendor FORMAT PrettyCompact"
`, w.sql)
	}
}

// lines is the state of each step, from the program's own metrics.
func (w watching) lines() []string {
	m := gather(w.reg)
	item := func(name string) float64 { return m.value("sextant_pipeline_items_total", "item", name) }
	rows := func(table string) float64 { return m.value("sextant_pipeline_written_rows_total", "table", table) }
	behind := "no record yet"
	if at := m.max("sextant_pipeline_watermark_timestamp_seconds"); at > 0 {
		behind = fmt.Sprintf("event time %.0f s behind the clock", float64(time.Now().UnixMilli())/1000-at)
	}
	return []string{
		fmt.Sprintf("demo       %s, console at %s/console/", time.Since(w.began).Truncate(time.Second), w.ask.base),
		fmt.Sprintf("agent      %.0f scrapes kept on disk, %.0f of them still to send", m.sum("sextant_spool_appended_total"), m.sum("sextant_spool_entries")),
		fmt.Sprintf("pipeline   %.0f records, %.0f samples, %.0f ticks, %s", item("record"), item("sample"), item("tick"), behind),
		fmt.Sprintf("clickhouse %.0f samples, %.0f series, %.0f feature rows", rows("samples"), rows("series"), m.sum("sextant_pipeline_written_rows_total")-rows("samples")-rows("series")-rows("ingest_ledger")),
	}
}

// families is one gathering of metrics, by name.
type families map[string]*dto.MetricFamily

func gather(g prometheus.Gatherer) families {
	out := families{}
	list, err := g.Gather()
	if err != nil {
		return out // a view of progress; what was gathered is incomplete, so show nothing
	}
	for _, f := range list {
		out[f.GetName()] = f
	}
	return out
}

// number is a counter's, gauge's or untyped metric's value.
func number(m *dto.Metric) float64 {
	switch {
	case m.Counter != nil:
		return m.Counter.GetValue()
	case m.Gauge != nil:
		return m.Gauge.GetValue()
	}
	return m.Untyped.GetValue()
}

func (f families) each(name string, yield func(*dto.Metric)) {
	for _, m := range f[name].GetMetric() {
		yield(m)
	}
}

// value is the number of the metric with the label.
func (f families) value(name, label, value string) (v float64) {
	f.each(name, func(m *dto.Metric) {
		for _, l := range m.Label {
			if l.GetName() == label && l.GetValue() == value {
				v += number(m)
			}
		}
	})
	return v
}

func (f families) sum(name string) (v float64) {
	f.each(name, func(m *dto.Metric) { v += number(m) })
	return v
}

func (f families) max(name string) (v float64) {
	f.each(name, func(m *dto.Metric) { v = max(v, number(m)) })
	return v
}
