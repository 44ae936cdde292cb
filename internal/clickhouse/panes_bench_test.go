package clickhouse

import (
	"fmt"
	"testing"
	"time"

	"sextant/features"
	"sextant/pipeline/derive"
	"sextant/pipeline/evaluate"
	"sextant/pipeline/pane"
)

// daily stores 2,000 nodes with 16 series each that node_daily reads over long windows, and 8 more
// that it reads now: samples of the last hour, and panes of a week before.
func daily(b *testing.B, db *DB, v *features.View, end int64) {
	b.Helper()
	exec := func(text string) {
		if err := db.Exec(b.Context(), text); err != nil {
			b.Fatal(err)
		}
	}
	const nodes = 2000
	id := 0
	for _, m := range []struct {
		name, label string
		each        int
		counter     bool
	}{
		{"node_load1", "", 1, false}, {"node_memory_MemAvailable_bytes", "", 1, false}, {"node_vmstat_oom_kill", "", 1, true}, {"node_time_seconds", "", 1, true},
		{"node_network_receive_bytes_total", "device", 2, true}, {"node_network_transmit_bytes_total", "device", 2, true},
		{"accel_busy_ratio", "uid", 4, false}, {"accel_power_watts", "uid", 4, false},
		{"node_memory_MemTotal_bytes", "", 1, false}, {"node_cpu_seconds_total", "cpu", 7, true},
	} {
		for k := range m.each {
			label, value := "", "number"
			if m.label != "" {
				label = fmt.Sprintf(", '%s', 'eth%d', 'mode', 'idle'", m.label, k)
			}
			if !m.counter {
				value = "1e9 + cityHash64(number, series) % 1000000"
			}
			exec(fmt.Sprintf(`INSERT INTO {db}.series (id, node, name, labels, first_seen) SELECT bitShiftLeft(number * 32, 48) + %[1]d, concat('n', toString(number)), '%[2]s',
				mapFromArrays(arrayFilter((k, i) -> i %% 2 = 1, [%[3]s], arrayEnumerate([%[3]s])), arrayFilter((k, i) -> i %% 2 = 0, [%[3]s], arrayEnumerate([%[3]s]))), fromUnixTimestamp64Milli(%[4]d) FROM numbers(%[5]d)`,
				id, m.name, "'node', concat('n', toString(number))"+label, end-8*24*pane.Hour, nodes))
			exec(fmt.Sprintf(`INSERT INTO {db}.samples (series, ts, value, flags) SELECT bitShiftLeft(intDiv(number, 360) * 32, 48) + %d AS series, fromUnixTimestamp64Milli(%d + number %% 360 * 10000), %s, 0
				FROM numbers(%d)`, id, end-pane.Hour, value, nodes*360))
			id++
		}
	}
	p, err := pane.NewPlan(v, evaluate.Options{Lookback: time.Minute, GroupSize: 32})
	if err != nil {
		b.Fatal(err)
	}
	for _, w := range p.Windows {
		for _, s := range w.Selectors {
			for _, c := range []struct{ length, from, to int64 }{{pane.Short, end - w.From - pane.Hour, end - w.From + pane.Hour}, {pane.Short, end - 3*pane.Hour, end - pane.Hour}, {pane.Hour, end - w.From - pane.Hour, end - pane.Hour}} {
				exec(fmt.Sprintf(`INSERT INTO {db}.sample_panes (length, pane, series, n, first_ts, last_ts, first, last, min, max, sum, spread, mean_t, spread_t, span_tv, changes)
					SELECT %[1]d, toDateTime(%[2]d + number * %[1]d, 'UTC') AS pane, id, %[3]d, pane, pane + %[1]d - 10, number, number + 100, number, number + 100, %[3]d * (number + 50), %[3]d, %[1]d * 500, 1e5, 1e5, %[3]d - 1
					FROM (SELECT arrayJoin(range(%[4]d)) AS number, id FROM (%[5]s))`, c.length/1000, c.from/1000, c.length/10_000, (c.to-c.from)/c.length,
					db.names.seriesOf([]pane.Selector{s}, idRange{0, 1<<64 - 1})))
				exec(fmt.Sprintf(`INSERT INTO {db}.pane_fills (selector, length, pane, made) SELECT %s, %d, toDateTime(arrayJoin(range(%d, %d, %d)), 'UTC'), now64(3)`,
					quote(s.Text), c.length/1000, c.from/1000, c.to/1000, c.length/1000))
			}
		}
	}
	exec("OPTIMIZE TABLE {db}.samples FINAL")
	exec("OPTIMIZE TABLE {db}.sample_panes FINAL")
}

// BenchmarkLongView is a tick of node_daily over 2,000 nodes: with the newest panes to be made of
// samples, and with all panes there. CPU seconds are of this process, engine included. Run it
// with -benchtime 11x: the hour has as many fresh ticks.
func BenchmarkLongView(b *testing.B) {
	db := openDB(b)
	v := builtinView(b, "node_daily")
	end := t0 - t0%pane.Hour
	daily(b, db, v, end)
	for _, made := range []bool{false, true} {
		b.Run(map[bool]string{false: "fresh", true: "made"}[made], func(b *testing.B) {
			s := db.NewDeriveStore()
			was, n, rows := cpuTime(), int64(0), 0
			for b.Loop() {
				tick := end - pane.Hour + (1+n%11)*pane.Short
				n++
				r, err := s.Derive(b.Context(), v, derive.At{Tick: tick, Known: tick})
				if err != nil {
					b.Fatal(err)
				}
				rows = len(r.Tick)
			}
			b.ReportMetric((cpuTime()-was).Seconds()/float64(n), "cpu-s/op")
			b.ReportMetric(float64(rows), "rows/op")
		})
	}
}
