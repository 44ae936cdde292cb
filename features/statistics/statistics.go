// Package statistics says how the values of features are spread, and when they are not as they
// should be. It is pure: it reads no clock and opens no connection.
package statistics

import (
	"math"
	"slices"
	"time"
)

// Histogram is values by logarithmic bucket, as the table feature_profiles has them: Counts[i] are
// in Buckets[i], which go up. Histograms add up exactly.
type Histogram struct {
	Buckets []int16
	Counts  []uint64
	Nulls   uint64 // rows without a value
}

// Gamma is how much larger a bucket is than the one before, and Error the largest relative error
// of a value that is read off its bucket: (gamma - 1) / (gamma + 1), as of DDSketch.
var (
	Gamma = math.Exp2(1. / 32)
	Error = (Gamma - 1) / (Gamma + 1)
)

// zeroBucket is the middle of the buckets of positive values: 16001 + k holds those in
// (2^((k-1)/32), 2^(k/32)].
const zeroBucket, bounds = 16001, 16000

// lastBucket is the highest, and less it the lowest.
const lastBucket = zeroBucket + bounds

// Bucket is the bucket of a number, as the store computes it (queries/feature_profile.sql).
func Bucket(x float64) int16 {
	if x == 0 {
		return 0
	}
	k := math.Ceil(math.Log2(math.Abs(x)) * 32)
	return int16(math.Copysign(zeroBucket+max(min(k, bounds), -bounds), x))
}

// Question says which features over which hours: those that begin in [From, To).
type Question struct {
	View, Feature string // View is name@version; "": all
	From, To      time.Time
}

// Hour is how the values of a feature were in an hour.
type Hour struct {
	Hour            time.Time `json:"hour"`
	Rows            uint64    `json:"rows"`
	NullRatio       float64   `json:"null_ratio"`
	OutOfRangeRatio float64   `json:"out_of_range_ratio"`
	Mean            *float64  `json:"mean"`
	P05             *float64  `json:"p05"`
	P50             *float64  `json:"p50"`
	P95             *float64  `json:"p95"`
	P99             *float64  `json:"p99"`
}

// Feature is what a question about the quality of a feature is answered with, over a range of
// hours.
type Feature struct {
	View            string    `json:"view"`
	Feature         string    `json:"feature"`
	Hours           uint64    `json:"hours"`
	Rows            uint64    `json:"rows"`
	NullRatio       float64   `json:"null_ratio"`
	OutOfRange      uint64    `json:"out_of_range"`
	OutOfRangeRatio float64   `json:"out_of_range_ratio"`
	Newest          time.Time `json:"newest_value"` // zero: no value
	Min             *float64  `json:"min"`
	Max             *float64  `json:"max"`
	Mean            *float64  `json:"mean"`
	P05             *float64  `json:"p05"`
	P50             *float64  `json:"p50"`
	P95             *float64  `json:"p95"`
	P99             *float64  `json:"p99"`
	PSI             []Drift   `json:"psi"` // of each baseline
	Served          uint64    `json:"served"`
	SkewRatio       float64   `json:"skew_ratio"`
	Crossed         []string  `json:"crossed"` // thresholds, by name
}

// Drift is the largest population stability index of an hour of the range against a baseline.
type Drift struct {
	Baseline string  `json:"baseline"`
	PSI      float64 `json:"psi"`
}

// Thresholds say what is not as it should be: more than them.
type Thresholds struct {
	NullRatio, OutOfRangeRatio, PSI, SkewRatio float64
	Age                                        time.Duration // of the newest value; 0: any
}

// Judge fills in what f crosses. now is what the age counts from.
func (t Thresholds) Judge(f *Feature, now time.Time) {
	f.Crossed = []string{}
	cross := func(name string, is bool) {
		if is {
			f.Crossed = append(f.Crossed, name)
		}
	}
	cross("null_ratio", f.NullRatio > t.NullRatio)
	cross("out_of_range_ratio", f.OutOfRangeRatio > t.OutOfRangeRatio)
	cross("psi", slices.ContainsFunc(f.PSI, func(d Drift) bool { return d.PSI > t.PSI }))
	cross("skew_ratio", f.SkewRatio > t.SkewRatio)
	cross("age", t.Age > 0 && now.Sub(f.Newest) > t.Age)
}
