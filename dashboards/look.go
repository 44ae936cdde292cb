package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// Colours of states, from the palette of Okabe and Ito ("Color Universal Design", 2008): people
// who cannot tell red from green tell these apart.
const (
	good = "#0072B2" // blue
	warn = "#E69F00" // orange
	bad  = "#D55E00" // vermilion
	calm = "#999999" // grey: neither good nor bad
)

// A step is a colour from a value on. The first step of thresholds has no value.
type step struct {
	from  float64
	color string
}

// rising are thresholds of what should stay low.
func rising(warnFrom, badFrom float64) []step {
	return []step{{color: good}, {warnFrom, warn}, {badFrom, bad}}
}

// falling are thresholds of what should stay high.
func falling(warnBelow, badBelow float64) []step {
	return []step{{color: bad}, {badBelow, warn}, {warnBelow, good}}
}

// none is for what must be 0.
var none = []step{{color: good}, {1, bad}}

// some is for what had better be 0.
var some = []step{{color: good}, {1, warn}}

// neutral is for what is neither.
var neutral = []step{{color: calm}}

func thresholds(steps []step) cog.Builder[dashboard.ThresholdsConfig] {
	return dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).Steps(thresholdSteps(steps))
}

func thresholdSteps(steps []step) []dashboard.Threshold {
	out := make([]dashboard.Threshold, len(steps))
	for i, s := range steps {
		out[i].Color = s.color
		if i > 0 {
			out[i].Value = &s.from
		}
	}
	return out
}
