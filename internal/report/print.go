package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

// cell is a value as text.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case time.Time:
		if v.Equal(v.Truncate(24*time.Hour)) && v.Unix() != 0 {
			return v.Format(time.DateOnly)
		}
		return v.Format(time.RFC3339)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// brief is a value for people: four digits are enough to read, ratios are percent.
func brief(v any, unit string) string {
	f, ok := v.(float64)
	switch {
	case v == nil:
		return "–"
	case !ok:
		return clean(cell(v))
	case unit == "ratio":
		return strconv.FormatFloat(100*f, 'f', 1, 64)
	case math.Abs(f) >= 1000:
		return strconv.FormatFloat(f, 'f', 0, 64)
	case f == math.Trunc(f):
		return strconv.FormatFloat(f, 'f', 0, 64)
	case math.Abs(f) >= 10:
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return strconv.FormatFloat(f, 'g', 3, 64)
}

// clean replaces control characters: no text of a sender may move a terminal's cursor, or be no
// XML.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '�'
		}
		return r
	}, s)
}

// people shows a value; a dimension that is empty has a name for it.
func people(column string, v any, unit string) string {
	if v == "" {
		return shown(column, v)
	}
	return brief(v, unit)
}

// heading is a column's name for people, with its unit.
func heading(column, unit string) string {
	name := column
	for _, suffix := range []string{"_hours", "_seconds", "_kwh", "_ratio", "_celsius", "_watts"} {
		name = strings.TrimSuffix(name, suffix)
	}
	name = strings.ReplaceAll(name, "_", " ")
	if unit == "ratio" {
		unit = "%"
	}
	if unit != "" {
		name += " [" + unit + "]"
	}
	return name
}

func (r *Result) period() string {
	return r.From.Format("2006-01-02 15:04") + " to " + r.To.Format("2006-01-02 15:04") + " UTC"
}

func (r *Result) filters() string {
	var out []string
	for _, f := range r.Where {
		out = append(out, f.Dimension+"="+strings.Join(f.Values, ","))
	}
	return strings.Join(out, " ")
}

// Table prints for a terminal.
func (r *Result) Table(out io.Writer) error {
	fmt.Fprintf(out, "%s, %s", r.Title, r.period())
	if f := r.filters(); f != "" {
		fmt.Fprintf(out, ", where %s", f)
	}
	fmt.Fprintln(out)
	for i := range r.Sections {
		s := r.Sections[i]
		fmt.Fprintf(out, "\n%s\n", s.Title)
		if len(s.Rows) == 0 {
			fmt.Fprintln(out, "  nothing")
			continue
		}
		w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
		for c, name := range s.Columns {
			fmt.Fprint(w, heading(name, s.Units[c]), "\t")
		}
		fmt.Fprintln(w)
		first := 0
		if s.Long() {
			first = max(len(s.Rows)-s.Top, 0) // the newest hours
		}
		for row := first; row < len(s.Rows); row++ {
			for c, v := range s.Rows[row] {
				fmt.Fprint(w, people(s.Columns[c], v, s.Units[c]), "\t")
			}
			fmt.Fprintln(w)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		if first > 0 {
			fmt.Fprintf(out, "  and %d earlier hours (--top)\n", first)
		}
	}
	return nil
}

// CSV prints the one question that was asked for: names of columns, then rows. NULL is an empty
// cell, times are RFC 3339.
func (s *Section) CSV(out io.Writer) error {
	w := csv.NewWriter(out)
	if err := w.Write(s.Columns); err != nil {
		return err
	}
	for _, row := range s.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = cell(v)
		}
		if err := w.Write(cells); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

type jsonColumn struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
}

type jsonSection struct {
	Name    string           `json:"name"`
	Title   string           `json:"title"`
	Meaning string           `json:"meaning"`
	GroupBy []string         `json:"group_by"`
	Columns []jsonColumn     `json:"columns"`
	Rows    []map[string]any `json:"rows"`
}

// JSON prints all sections, each with the unit of each column.
func (r *Result) JSON(out io.Writer) error {
	doc := struct {
		Report    string              `json:"report"`
		From      time.Time           `json:"from"`
		To        time.Time           `json:"to"`
		Generated time.Time           `json:"generated"`
		Where     map[string][]string `json:"where"`
		Currency  string              `json:"currency,omitempty"`
		Sections  []jsonSection       `json:"sections"`
	}{r.Name, r.From, r.To, r.Generated.UTC(), map[string][]string{}, r.Currency, []jsonSection{}}
	for _, f := range r.Where {
		doc.Where[f.Dimension] = f.Values
	}
	for i := range r.Sections {
		s := r.Sections[i]
		js := jsonSection{s.Name, s.Title, s.Meaning, append([]string{}, s.Query.GroupBy...), []jsonColumn{}, []map[string]any{}}
		for c, name := range s.Columns {
			js.Columns = append(js.Columns, jsonColumn{name, s.Units[c]})
		}
		for _, row := range s.Rows {
			m := map[string]any{}
			for c, v := range row {
				m[s.Columns[c]] = v
			}
			js.Rows = append(js.Rows, m)
		}
		doc.Sections = append(doc.Sections, js)
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}
