package report

// ChartKind is how an answer is drawn.
type ChartKind int

// The kinds.
const (
	None ChartKind = iota
	Bars           // a bar for each row
	Area           // rows are hours
)

// Chart says what is drawn of an answer.
type Chart struct {
	Kind  ChartKind
	Label []string // columns of the labels; empty: all that it is grouped by
	Parts []Bar    // stacked
}

// Bar is one part of each bar: the sum of some columns less the sum of others, at least 0.
type Bar struct {
	Name       string
	Plus, Less []string
	Color      string // a class of the style sheet
}

// usage divides the hours of devices. What is busy and held by nobody is used, too.
var usage = []Bar{
	{"used", []string{"used_hours"}, nil, "used"},
	{"held, not used", []string{"allocated_hours"}, []string{"used_hours"}, "held"},
	{"free", []string{"capacity_hours"}, []string{"allocated_hours", "unknown_hours"}, "free"},
	{"not known", []string{"unknown_hours"}, nil, "unknown"},
}

// value of a part in a row.
func (a *Answer) value(row int, b Bar) float64 {
	v := 0.0
	for _, c := range b.Plus {
		v += a.number(row, c)
	}
	for _, c := range b.Less {
		v -= a.number(row, c)
	}
	return max(v, 0)
}

// label of a row's bar.
func (s *Section) label(row int) string {
	columns := s.Query.GroupBy
	if len(s.Chart.Label) > 0 {
		columns = s.Chart.Label
	}
	text := ""
	for i, c := range columns {
		if i > 0 {
			text += "/"
		}
		if at := s.column(c); at >= 0 {
			text += shown(c, s.Rows[row][at])
		}
	}
	return text
}

// shown is a dimension's value for people: nobody's has no name.
func shown(column string, v any) string {
	switch {
	case v == nil:
		return "–"
	case v == "" && column != "reason":
		return "(none)"
	}
	return clean(cell(v))
}
