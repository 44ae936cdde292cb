package features

// Served is one view's part of one entity in an answer of the API, as it was served:
// features that were asked for, in the order of the answer.
type Served struct {
	Time     int64 // unix ms of the request
	View     *View
	Keys     []string  // values of View.Keys
	Tick     int64     // unix ms of the row; 0 where there was none
	Known    int64     // likewise
	Features []string  // names
	Values   []float64 // NaN where the value is no number, or there is none
	Texts    []string  // "" where the value is no string, or there is none
	Statuses []string  // as answered
}
