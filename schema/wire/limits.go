package wire

import "fmt"

// The limits of one request. They bound what a sender can make the receiver hold, and
// they sit far above what a sound exporter needs: a node_exporter page has about 1,500
// series, 2,000 symbols and 8 labels per series.
const (
	MaxRequest    = 64 << 20 // bytes of one request, decompressed
	MaxSymbols    = 1 << 18  // entries of the symbol table
	MaxSeries     = 1 << 17  // series of one request
	MaxSamples    = 1 << 20  // samples of one request, all series together
	MaxLabels     = 128      // labels of one series, __name__ included
	MaxLabelName  = 1 << 10  // bytes of a label's name
	MaxLabelValue = 16 << 10 // bytes of a label's value, and of the metric name
)

// Limit names one of the limits above in an error.
type Limit string

// The limits by name.
const (
	LimitRequest    Limit = "bytes per request"
	LimitSymbols    Limit = "symbols per request"
	LimitSeries     Limit = "series per request"
	LimitSamples    Limit = "samples per request"
	LimitLabels     Limit = "labels per series"
	LimitLabelName  Limit = "bytes per label name"
	LimitLabelValue Limit = "bytes per label value"
)

// LimitError says which limit was passed. Got is the first count that is too many; where
// counting stops at the limit it is the limit plus one.
type LimitError struct {
	Limit Limit
	Max   int
	Got   int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%d %s, at most %d are allowed", e.Got, e.Limit, e.Max)
}

// CheckLabels checks labels against the limits and the rules of a series: names ascend,
// none is empty or given twice. The error is permanent: the same labels fail again.
func CheckLabels(labels []Label) error {
	if len(labels) > MaxLabels {
		return &LimitError{LimitLabels, MaxLabels, len(labels)}
	}
	for i := range labels {
		if err := checkLabelSize(len(labels[i].Name), len(labels[i].Value)); err != nil {
			return err
		}
		if i > 0 && labels[i-1].Name >= labels[i].Name {
			return orderError(labels[i-1].Name, labels[i].Name)
		}
	}
	return nil
}

func checkLabelSize(name, value int) error {
	switch {
	case name == 0:
		return errEmptyName
	case name > MaxLabelName:
		return &LimitError{LimitLabelName, MaxLabelName, name}
	case value > MaxLabelValue:
		return &LimitError{LimitLabelValue, MaxLabelValue, value}
	}
	return nil
}

func orderError(before, name string) error {
	if before == name {
		return fmt.Errorf("label name %q is given twice", clip(name))
	}
	return fmt.Errorf("label name %q follows %q: names must ascend", clip(name), clip(before))
}

// clip shortens a value that came from outside for an error message.
func clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
