package clickhouse

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"

	"sextant/features"
	"sextant/pipeline/profile"
	schema "sextant/schema/sql"
)

// Limits of measuring one hour of a view. One thread: nobody waits for it.
const (
	profileSeconds = 1200
	profileMemory  = 4 << 30 // bytes
)

// ProfileStore measures the values of features. It is a profile.Store.
type ProfileStore struct {
	db       *DB
	backfill *BackfillStore
	lateness time.Duration
}

var _ profile.Store = (*ProfileStore)(nil)

// NewProfileStore returns a store with nothing to close. lateness is the stream's.
func (db *DB) NewProfileStore(lateness time.Duration) *ProfileStore {
	return &ProfileStore{db, db.NewBackfillStore(nil), lateness}
}

// profileData is what the queries over one hour of a view are filled with.
type profileData struct{ viewData }

// CorrectedTable is the table of corrected rows.
func (d profileData) CorrectedTable() string { return d.v.CorrectedTable() }

// Ref is name@version.
func (d profileData) Ref() string { return d.v.Ref() }

// InHour limits ticks to the hour that is asked for.
func (profileData) InHour() string {
	return "tick >= toDateTime64({hour:DateTime('UTC')}, 3, 'UTC') AND tick < toDateTime64({hour:DateTime('UTC')}, 3, 'UTC') + INTERVAL 1 HOUR"
}

// each joins what f says of each feature.
func (d profileData) each(f func(i int, x *features.Feature) string) string {
	out := make([]string, len(d.v.Features))
	for i := range d.v.Features {
		out[i] = f(i, &d.v.Features[i])
	}
	return strings.Join(out, ", ")
}

// Names is the features as string literals.
func (d profileData) Names() string {
	return d.each(func(_ int, f *features.Feature) string { return quote(f.Name) })
}

// Places counts the features, from 1.
func (d profileData) Places() string {
	return d.each(func(i int, _ *features.Feature) string { return strconv.Itoa(i + 1) })
}

// Values is a number for each feature: of a string, which of the 1024 buckets it is in. NaN is no
// value.
func (d profileData) Values() string {
	return d.each(func(_ int, f *features.Feature) string {
		read := viewColumn{f}.Read()
		if f.DType == features.String {
			return "if(" + read + " = '', nan, toFloat64(cityHash64(" + read + ") % 1024))"
		}
		return read
	})
}

// Numbers and Strings are what the rows of the view are compared by.
func (d profileData) Numbers() string {
	return d.each(func(_ int, f *features.Feature) string {
		if f.DType == features.String {
			return "nan"
		}
		return viewColumn{f}.Read()
	})
}

// Strings: see Numbers.
func (d profileData) Strings() string {
	return d.each(func(_ int, f *features.Feature) string {
		if f.DType == features.String {
			return viewColumn{f}.Read()
		}
		return "''"
	})
}

// Lows and Highs are the valid ranges, as the column's type holds them.
func (d profileData) Lows() string {
	return d.bounds(func(f *features.Feature) *float64 { return f.Min }, "-inf")
}

// Highs: see Lows.
func (d profileData) Highs() string {
	return d.bounds(func(f *features.Feature) *float64 { return f.Max }, "inf")
}

func (d profileData) bounds(of func(*features.Feature) *float64, none string) string {
	return d.each(func(_ int, f *features.Feature) string {
		x := of(f)
		switch {
		case x == nil:
			return none
		case f.DType == features.Float32:
			return strconv.FormatFloat(float64(float32(*x)), 'g', -1, 64)
		}
		return strconv.FormatFloat(*x, 'g', -1, 64)
	})
}

// Texts says which features are strings.
func (d profileData) Texts() string {
	return d.each(func(_ int, f *features.Feature) string { return strconv.Itoa(int(bit(f.DType == features.String))) })
}

// KeyTexts is the keys as strings.
func (d profileData) KeyTexts() string {
	out := make([]string, len(d.v.Keys))
	for i, k := range d.v.Keys {
		out[i] = "toString(" + ident(k) + ")"
	}
	return strings.Join(out, ", ")
}

// EntityKeys is the keys of a row of served_features.
func (d profileData) EntityKeys() string {
	out := make([]string, len(d.v.Keys))
	for i := range d.v.Keys {
		out[i] = fmt.Sprintf("entity[%d]", i+1)
	}
	return strings.Join(out, ", ")
}

// Quantile reads a quantile off the histogram of feature_profiles: the middle of the bucket that
// holds the value of that rank, in the sense of its relative error.
func (accounts) Quantile(q string) string {
	const rank = "arrayElement(buckets, arrayFirstIndex(c -> c >= %s * arraySum(counts), arrayCumSum(counts)))"
	const middle = "multiIf(text OR nulls = rows, NULL, %[1]s = 0, 0, sign(%[1]s) * exp2((abs(%[1]s) - 16001) / 32) * 2 / (1 + exp2(1 / 32)))"
	return fmt.Sprintf("least(greatest("+middle+", min), max)", fmt.Sprintf(rank, q))
}

// Closed implements profile.Store.
func (s *ProfileStore) Closed(ctx context.Context) (int64, error) {
	return s.backfill.Closed(ctx, s.lateness)
}

// Stored implements profile.Store.
func (s *ProfileStore) Stored(ctx context.Context, v *features.View, since int64) (map[int64]uint64, error) {
	out := map[int64]uint64{}
	for _, table := range []string{v.Table(), v.CorrectedTable()} {
		rows, err := s.db.conn.Query(ctx, "SELECT toInt64(toUnixTimestamp(toStartOfHour(tick))) * 1000 AS hour, count() FROM "+s.db.names.Table(table)+
			" WHERE tick >= fromUnixTimestamp64Milli(toInt64(?), 'UTC') GROUP BY hour SETTINGS max_threads = 1", since)
		if err != nil {
			return nil, fmt.Errorf("count rows of %s: %w", table, err)
		}
		var hour int64
		var n uint64
		for rows.Next() {
			if err := rows.Scan(&hour, &n); err != nil {
				rows.Close()
				return nil, fmt.Errorf("count rows of %s: %w", table, err)
			}
			out[hour] += n
		}
		rows.Close()
		if err := rows.Err(); err != nil {
			return nil, fmt.Errorf("count rows of %s: %w", table, err)
		}
	}
	return out, nil
}

// changedLately is the changes that are still of interest: older ones are measured.
const changedLately = "at >= now64(3) - INTERVAL 7 DAY"

// Made implements profile.Store. A feature that the view gained is measured where its column was
// filled: a backfill says so.
func (s *ProfileStore) Made(ctx context.Context, since int64) (map[string]map[int64]profile.Made, error) {
	out := map[string]map[int64]profile.Made{}
	var view string
	var hour, at int64
	var stored uint64
	err := s.db.each(ctx, `SELECT view, toInt64(toUnixTimestamp(hour)) * 1000, toUnixTimestamp64Milli(max(made)), argMax(stored, made) FROM {db}.feature_profiles
		WHERE hour >= toDateTime(?, 'UTC') OR (view, hour) GLOBAL IN (SELECT view, hour FROM {db}.feature_changes WHERE `+changedLately+`)
		GROUP BY view, hour`, []any{&view, &hour, &at, &stored}, func() {
		if out[view] == nil {
			out[view] = map[int64]profile.Made{}
		}
		out[view][hour] = profile.Made{At: at, Stored: stored}
	}, since/1000)
	return out, err
}

// Changed implements profile.Store.
func (s *ProfileStore) Changed(ctx context.Context) (map[string]map[int64]int64, error) {
	out := map[string]map[int64]int64{}
	var view string
	var hour, at int64
	err := s.db.each(ctx, `SELECT view, toInt64(toUnixTimestamp(hour)) * 1000, toUnixTimestamp64Milli(max(at)) FROM {db}.feature_changes
		WHERE `+changedLately+` GROUP BY view, hour`, []any{&view, &hour, &at}, func() {
		if out[view] == nil {
			out[view] = map[int64]int64{}
		}
		out[view][hour] = at
	})
	return out, err
}

// each runs a query and calls f after each row is scanned into dest.
func (db *DB) each(ctx context.Context, sql string, dest []any, f func(), args ...any) error {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return fmt.Errorf("quality of features: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return fmt.Errorf("quality of features: %w", err)
		}
		f()
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("quality of features: %w", err)
	}
	return nil
}

// Measure implements profile.Store.
func (s *ProfileStore) Measure(ctx context.Context, v *features.View, hour int64, stored uint64) error {
	for _, file := range []string{"queries/feature_profile.sql", "queries/feature_skew.sql"} {
		text, err := renderFile(schema.Files, file, profileData{viewData{names: s.db.names, v: v}})
		if err != nil {
			return err
		}
		asked := ch.Context(ctx, ch.WithSettings(ch.Settings{"max_execution_time": profileSeconds, "max_memory_usage": profileMemory, "max_threads": 1}),
			ch.WithParameters(ch.Parameters{"hour": strconv.FormatInt(hour/1000, 10), "stored": strconv.FormatUint(stored, 10)}))
		if err := s.db.conn.Exec(asked, text); err != nil {
			return fmt.Errorf("measure %s at %s: %w", v.Ref(), time.UnixMilli(hour).UTC().Format(time.RFC3339), err)
		}
	}
	return nil
}

// Newest implements profile.Store.
func (s *ProfileStore) Newest(ctx context.Context, v *features.View, since int64) ([]int64, error) {
	columns, dest := make([]string, len(v.Features)), make([]any, len(v.Features))
	out := make([]int64, len(v.Features))
	for i := range v.Features {
		has := "isFinite(" + viewColumn{&v.Features[i]}.Read() + ")"
		if v.Features[i].DType == features.String {
			has = viewColumn{&v.Features[i]}.Read() + " != ''"
		}
		columns[i], dest[i] = "toUnixTimestamp64Milli(maxIf(tick, "+has+"))", &out[i]
	}
	text := "SELECT " + strings.Join(columns, ", ") + " FROM " + s.db.names.Table(v.Table()) + " WHERE tick >= fromUnixTimestamp64Milli(toInt64(?), 'UTC') SETTINGS max_threads = 1"
	if err := s.db.conn.QueryRow(ctx, text, since).Scan(dest...); err != nil {
		return nil, fmt.Errorf("newest values of %s: %w", v.Ref(), err)
	}
	for i, t := range out {
		out[i] = max(t, 0)
	}
	return out, nil
}

// Latest implements profile.Store.
func (s *ProfileStore) Latest(ctx context.Context) ([]profile.Latest, error) {
	var out []profile.Latest
	at := map[string]int{}
	var x profile.Latest
	find := func() *profile.Latest {
		i, ok := at[x.View+":"+x.Feature]
		if !ok {
			i = len(out)
			at[x.View+":"+x.Feature] = i
			out = append(out, profile.Latest{View: x.View, Feature: x.Feature, NullRatio: math.NaN(), OutOfRangeRatio: math.NaN(), SkewRatio: math.NaN(), PSI: map[string]float64{}})
		}
		return &out[i]
	}
	const day = " WHERE hour >= now() - INTERVAL 1 DAY"
	err := s.db.each(ctx, `SELECT view, feature, argMax(null_ratio, hour), argMax(out_of_range_ratio, hour), max(toUnixTimestamp64Milli(ifNull(newest_value, toDateTime64(0, 3, 'UTC'))))
		FROM {db}.feature_quality`+day+` GROUP BY view, feature`, []any{&x.View, &x.Feature, &x.NullRatio, &x.OutOfRangeRatio, &x.Newest}, func() {
		l := find()
		l.NullRatio, l.OutOfRangeRatio, l.Newest = x.NullRatio, x.OutOfRangeRatio, x.Newest
	})
	if err != nil {
		return nil, err
	}
	if err := s.db.each(ctx, "SELECT view, feature, argMax(skew_ratio, hour) FROM {db}.feature_skew"+day+" GROUP BY view, feature", []any{&x.View, &x.Feature, &x.SkewRatio}, func() {
		find().SkewRatio = x.SkewRatio
	}); err != nil {
		return nil, err
	}
	var baseline string
	var psi float64
	err = s.db.each(ctx, "SELECT baseline, view, feature, argMax(psi, hour) FROM {db}.feature_drift"+day+" GROUP BY baseline, view, feature", []any{&baseline, &x.View, &x.Feature, &psi}, func() {
		find().PSI[baseline] = psi
	})
	return out, err
}
