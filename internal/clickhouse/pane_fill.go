package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"sextant/pipeline/pane"
	schema "sextant/schema/sql"
)

// paneTrust is for how long panes are taken as they are: those that expire are older.
const paneTrust = 35 * 24 * time.Hour

// manyRuns is more than a tick lacks unless it is the first for long.
const manyRuns = 20

// paneKey names the panes of all series of one start.
type paneKey struct{ length, start int64 } // ms

// fill makes the panes that the windows of a tick need and the store lacks. They are of samples
// that came in time, all of which are stored when the tick is due, so it does not matter when it is.
func (l *longViews) fill(ctx context.Context, p *pane.Plan, tick int64) error {
	have, err := l.filled(ctx, p, tick)
	if err != nil {
		return err
	}
	lack := map[paneKey][]pane.Selector{}
	for _, w := range p.Windows {
		for _, s := range w.Selectors {
			if err := l.lacking(ctx, s, pane.Cut(tick-w.From, tick-w.To), have[s.Text], lack); err != nil {
				return err
			}
		}
	}
	return l.makeAll(ctx, p, runsOf(lack))
}

// makeAll makes the panes of runs. What is made when it fails is not made again.
func (l *longViews) makeAll(ctx context.Context, p *pane.Plan, runs []paneRun) error {
	start, many := time.Now(), len(runs) > manyRuns
	if many {
		l.db.log.Info("panes of the past are made, for which the view waits", "view", p.View.Ref(), "questions", len(runs))
	}
	for _, run := range runs {
		if err := l.make(ctx, run); err != nil {
			return fmt.Errorf("panes of %s: %w", time.UnixMilli(run.From).UTC().Format(time.RFC3339), err)
		}
	}
	if many {
		l.db.log.Info("panes of the past are made", "view", p.View.Ref(), "took", time.Since(start))
	}
	return nil
}

// filled is the panes that there are, by the text of their selector.
func (l *longViews) filled(ctx context.Context, p *pane.Plan, tick int64) (map[string]map[paneKey]bool, error) {
	have, from := map[string]map[paneKey]bool{}, tick
	var texts []string
	for _, w := range p.Windows {
		from = min(from, tick-w.From)
		for _, s := range w.Selectors {
			have[s.Text], texts = map[paneKey]bool{}, append(texts, s.Text)
		}
	}
	if len(texts) == 0 {
		return nil, nil
	}
	rows, err := l.db.Query(ctx, `SELECT selector, toInt64(length) * 1000, toInt64(toUnixTimestamp(pane)) * 1000 FROM {db}.pane_fills FINAL
		WHERE selector IN (?) AND pane >= toDateTime(?, 'UTC') AND pane < toDateTime(?, 'UTC') AND made >= fromUnixTimestamp64Milli(toInt64(?), 'UTC')`,
		texts, from/1000, tick/1000, max(l.since, time.Now().Add(-paneTrust).UnixMilli()))
	if err != nil {
		return nil, fmt.Errorf("read pane_fills: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		var k paneKey
		if err := rows.Scan(&text, &k.length, &k.start); err != nil {
			return nil, fmt.Errorf("read pane_fills: %w", err)
		}
		have[text][k] = true
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read pane_fills: %w", err)
	}
	return have, nil
}

// lacking adds the panes of spans that a selector has not. Before its first series there are none.
func (l *longViews) lacking(ctx context.Context, s pane.Selector, spans []pane.Span, have map[paneKey]bool, lack map[paneKey][]pane.Selector) error {
	var missing []paneKey
	for _, span := range spans {
		for t := span.From; span.Length > 0 && t < span.To; t += span.Length {
			if k := (paneKey{span.Length, t}); !have[k] {
				missing = append(missing, k)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	first, err := l.firstSeen(ctx, s)
	if err != nil {
		return err
	}
	for _, k := range missing {
		if k.start+k.length > first && !slices.ContainsFunc(lack[k], func(o pane.Selector) bool { return o.Text == s.Text }) {
			lack[k] = append(lack[k], s)
		}
	}
	return nil
}

// firstSeen is a time before which no series of the selector has a sample, unix ms. That of a series
// is of its first record; its samples may be older, by an hour at most.
func (l *longViews) firstSeen(ctx context.Context, s pane.Selector) (int64, error) {
	var first int64
	err := l.db.conn.QueryRow(ctx, "SELECT if(count() = 0, 9223372036854775807, toUnixTimestamp64Milli(min(first_seen)) - 3600000) FROM "+l.db.names.Table("series")+
		" WHERE id GLOBAL IN ("+l.db.names.seriesOf([]pane.Selector{s}, idRange{0, 1<<64 - 1})+")").Scan(&first)
	if err != nil {
		return 0, fmt.Errorf("first sample of {%s}: %w", s.Text, err)
	}
	return first, nil
}

// paneRun is panes side by side that the same selectors lack.
type paneRun struct {
	pane.Span
	selectors []pane.Selector
}

// runsOf joins panes that one query can make: an hour of samples at most.
func runsOf(lack map[paneKey][]pane.Selector) (out []paneRun) {
	keys := make([]paneKey, 0, len(lack))
	for k := range lack {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b paneKey) int { return cmp.Or(cmp.Compare(a.length, b.length), cmp.Compare(a.start, b.start)) })
	for _, k := range keys {
		if n := len(out); n > 0 {
			if last := &out[n-1]; last.Length == k.length && last.To == k.start && k.start+k.length-last.From <= pane.Hour && slices.EqualFunc(last.selectors, lack[k], sameText) {
				last.To += k.length
				continue
			}
		}
		out = append(out, paneRun{pane.Span{Length: k.length, From: k.start, To: k.start + k.length}, lack[k]})
	}
	return out
}

func sameText(a, b pane.Selector) bool { return a.Text == b.Text }

// make computes the panes of a run, and notes that they are there.
func (l *longViews) make(ctx context.Context, run paneRun) error {
	began := time.Now().UnixMilli()
	parts, err := l.parts(ctx, run.selectors)
	if err != nil {
		return err
	}
	for _, part := range parts {
		text, err := renderFile(schema.Files, "queries/pane_fill.sql", paneData{names: l.db.names, Series: l.db.names.seriesOf(run.selectors, part)})
		if err != nil {
			return err
		}
		if err := l.db.conn.Exec(l.asked(ctx, run.Span), text); err != nil {
			return err
		}
	}
	var texts []string
	for _, s := range run.selectors {
		texts = append(texts, s.Text)
	}
	err = l.db.Exec(ctx, `INSERT INTO {db}.pane_fills (selector, length, pane, made)
		SELECT arrayJoin(?), ?, toDateTime(arrayJoin(range(toUInt32(?), toUInt32(?), toUInt32(?))), 'UTC'), fromUnixTimestamp64Milli(toInt64(?), 'UTC')`,
		texts, run.Length/1000, run.From/1000, run.To/1000, run.Length/1000, began)
	if err != nil {
		return fmt.Errorf("note panes: %w", err)
	}
	return nil
}
