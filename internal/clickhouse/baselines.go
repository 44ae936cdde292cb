package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"time"

	"sextant/features"
	"sextant/features/statistics"
)

// maxBaselines is how many there may be at once: each is a series of each feature.
const maxBaselines = 8

var baselineName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)

// ErrBaseline says that a baseline cannot be set or removed as it was asked for.
var ErrBaseline = errors.New("baseline")

// Baseline is hours that others are compared with, as a list shows it.
type Baseline struct {
	Name     string    `json:"name"`
	Views    []string  `json:"views"`
	Features uint64    `json:"features"`
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	Hours    uint32    `json:"hours"`
	Rows     uint64    `json:"rows"`
	Set      time.Time `json:"set"`
	Who      string    `json:"who"`
}

// Baselines lists the baselines by name.
func (db *DB) Baselines(ctx context.Context) (out []Baseline, err error) {
	var b Baseline
	err = db.each(ctx, `SELECT baseline, arraySort(groupUniqArray(toString(view))), count(), min(since), max(until), max(hours), max(arraySum(expected)), max(at), argMax(who, at)
		FROM {db}.feature_baselines FINAL WHERE removed = 0 GROUP BY baseline ORDER BY baseline`,
		[]any{&b.Name, &b.Views, &b.Features, &b.From, &b.To, &b.Hours, &b.Rows, &b.Set, &b.Who}, func() {
			out = append(out, b)
			b.Views = nil
		})
	return out, err
}

// SetBaseline makes the hours in [from, to) the baseline of that name, of the views: the features of those that it had before stay. It says of how many features.
func (db *DB) SetBaseline(ctx context.Context, name string, views []*features.View, from, to time.Time, who string) (int, error) {
	if !baselineName.MatchString(name) {
		return 0, fmt.Errorf("%w: %q is not a name: small letters, digits, - and _, at most 63, a letter first", ErrBaseline, name)
	}
	list, err := db.Baselines(ctx)
	if err != nil {
		return 0, err
	}
	has := false
	for _, b := range list {
		has = has || b.Name == name
	}
	if !has && len(list) >= maxBaselines {
		return 0, fmt.Errorf("%w: there are %d, which is the limit: remove one", ErrBaseline, len(list))
	}
	batch, err := db.conn.PrepareBatch(ctx, "INSERT INTO "+db.names.Table("feature_baselines")+" (baseline, view, feature, since, until, hours, edges, expected, exact, who, removed)")
	if err != nil {
		return 0, fmt.Errorf("set baseline: %w", err)
	}
	refs, types := make([]string, len(views)), map[string]features.DType{}
	for i, v := range views {
		refs[i] = v.Ref()
		for k := range v.Features {
			types[v.Ref()+":"+v.Features[k].Name] = v.Features[k].DType
		}
	}
	var view, feature string
	var h statistics.Histogram
	var hours uint64
	n := 0
	var failed error
	err = db.each(ctx, `SELECT view, feature, sumMap(buckets, counts).1, sumMap(buckets, counts).2, sum(nulls), count() FROM {db}.feature_profiles FINAL
		WHERE view IN (?) AND hour >= toDateTime(?, 'UTC') AND hour < toDateTime(?, 'UTC') GROUP BY view, feature`,
		[]any{&view, &feature, &h.Buckets, &h.Counts, &h.Nulls, &hours}, func() {
			d, ok := types[view+":"+feature]
			if !ok {
				return // it is defined no more
			}
			b := h.Bins(d)
			if b.Edges == nil {
				b.Edges = []int16{}
			}
			n++
			failed = errors.Join(failed, batch.Append(name, view, feature, from, to, uint32(hours), b.Edges, b.Expected, bit(b.Exact), who, uint8(0)))
			h = statistics.Histogram{}
		}, refs, from.Unix(), to.Unix())
	if err = errors.Join(err, failed); err != nil || n == 0 {
		if err == nil {
			err = fmt.Errorf("%w: no hour in [%s, %s) was measured", ErrBaseline, from.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339))
		}
		return 0, errors.Join(err, batch.Abort())
	}
	if err := batch.Send(); err != nil {
		return 0, fmt.Errorf("set baseline: %w", err)
	}
	return n, nil
}

// RemoveBaseline takes a baseline away.
func (db *DB) RemoveBaseline(ctx context.Context, name, who string) error {
	var n uint64
	if err := db.conn.QueryRow(ctx, "SELECT count() FROM "+db.names.Table("feature_baselines")+" FINAL WHERE removed = 0 AND baseline = ?", name).Scan(&n); err != nil {
		return fmt.Errorf("remove baseline: %w", err)
	}
	if n == 0 {
		return fmt.Errorf("%w: there is no %q", ErrBaseline, name)
	}
	err := db.Exec(ctx, `INSERT INTO {db}.feature_baselines (baseline, view, feature, since, until, who, removed)
		SELECT baseline, view, feature, since, until, ?, 1 FROM {db}.feature_baselines FINAL WHERE removed = 0 AND baseline = ?`, who, name)
	if err != nil {
		return fmt.Errorf("remove baseline: %w", err)
	}
	return nil
}

// Quality tells how the values of features were, by view and feature: over all hours, and of drift
// the worst of them.
func (db *DB) Quality(ctx context.Context, q statistics.Question) (out []statistics.Feature, err error) {
	args := []any{q.View, q.View, q.Feature, q.Feature, q.From.Unix(), q.To.Unix()}
	const which = " WHERE (? = '' OR view = ?) AND (? = '' OR feature = ?) AND hour >= toDateTime(?, 'UTC') AND hour < toDateTime(?, 'UTC')"
	at := map[string]int{}
	var f statistics.Feature
	var nulls, outside, refused uint64
	var low, high, mean, p05, p50, p95, p99 float64
	err = db.each(ctx, `SELECT view, feature, hours, rows, nulls, outside, refused, newest, ifNull(min, nan), ifNull(max, nan), ifNull(total / (rows - nulls), nan),
			ifNull(`+accounts{}.Quantile("0.05")+`, nan), ifNull(`+accounts{}.Quantile("0.5")+`, nan), ifNull(`+accounts{}.Quantile("0.95")+`, nan), ifNull(`+accounts{}.Quantile("0.99")+`, nan)
		FROM (SELECT view, feature, count() AS hours, sum(p.rows) AS rows, sum(p.nulls) AS nulls, sum(p.outside) AS outside, sum(p.refused) AS refused, max(p.newest) AS newest, max(p.text) AS text,
				if(text, NULL, minOrNullIf(lowest, p.nulls < p.rows)) AS min, if(text, NULL, maxOrNullIf(highest, p.nulls < p.rows)) AS max, if(text, NULL, sum(p.total)) AS total,
				sumMap(p.buckets, p.counts) AS sketch, sketch.1 AS buckets, sketch.2 AS counts
			FROM {db}.feature_profiles AS p FINAL`+which+` GROUP BY view, feature)
		ORDER BY view, feature`,
		[]any{&f.View, &f.Feature, &f.Hours, &f.Rows, &nulls, &outside, &refused, &f.Newest, &low, &high, &mean, &p05, &p50, &p95, &p99}, func() {
			x := f
			x.NullRatio = ratio(nulls, x.Rows)
			x.OutOfRange = outside + refused
			x.OutOfRangeRatio = ratio(x.OutOfRange, x.Rows-nulls+refused)
			x.PSI = []statistics.Drift{}
			if x.Newest.UnixMilli() <= 0 {
				x.Newest = time.Time{}
			}
			x.Min, x.Max, x.Mean, x.P05, x.P50, x.P95, x.P99 = known(low), known(high), known(mean), known(p05), known(p50), known(p95), known(p99)
			at[x.View+":"+x.Feature] = len(out)
			out = append(out, x)
		}, args...)
	if err != nil {
		return nil, err
	}
	var d statistics.Drift
	err = db.each(ctx, "SELECT view, feature, baseline, max(psi) FROM {db}.feature_drift"+which+" GROUP BY view, feature, baseline ORDER BY baseline", []any{&f.View, &f.Feature, &d.Baseline, &d.PSI}, func() {
		if i, ok := at[f.View+":"+f.Feature]; ok {
			out[i].PSI = append(out[i].PSI, d)
		}
	}, args...)
	if err != nil {
		return nil, err
	}
	var compared, off uint64
	err = db.each(ctx, "SELECT view, feature, sum(compared), sum(different + missing) FROM {db}.feature_skew"+which+" GROUP BY view, feature", []any{&f.View, &f.Feature, &compared, &off}, func() {
		if i, ok := at[f.View+":"+f.Feature]; ok {
			out[i].Served, out[i].SkewRatio = compared, ratio(off, compared)
		}
	}, args...)
	return out, err
}

// QualityHours tells how the values of one feature were, hour by hour.
func (db *DB) QualityHours(ctx context.Context, q statistics.Question) (out []statistics.Hour, err error) {
	var h statistics.Hour
	var mean, p05, p50, p95, p99 float64
	err = db.each(ctx, `SELECT hour, rows, null_ratio, out_of_range_ratio, ifNull(mean, nan), ifNull(p05, nan), ifNull(p50, nan), ifNull(p95, nan), ifNull(p99, nan)
		FROM {db}.feature_quality WHERE view = ? AND feature = ? AND hour >= toDateTime(?, 'UTC') AND hour < toDateTime(?, 'UTC') ORDER BY hour`,
		[]any{&h.Hour, &h.Rows, &h.NullRatio, &h.OutOfRangeRatio, &mean, &p05, &p50, &p95, &p99}, func() {
			x := h
			x.Mean, x.P05, x.P50, x.P95, x.P99 = known(mean), known(p05), known(p50), known(p95), known(p99)
			out = append(out, x)
		}, q.View, q.Feature, q.From.Unix(), q.To.Unix())
	return out, err
}

func ratio(n, of uint64) float64 {
	if n == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

func known(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}
