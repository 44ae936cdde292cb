package report

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"slices"
	"strings"
	"testing"
	"time"

	"sextant/features/training"
)

var now = time.Date(2026, 3, 10, 12, 34, 56, 0, time.UTC)

func TestParseTime(t *testing.T) {
	for text, want := range map[string]string{
		"now": "2026-03-10T12:34:56Z", "-7d": "2026-03-03T12:34:56Z", "-90m": "2026-03-10T11:04:56Z", "-1w2d": "2026-03-01T12:34:56Z", "+1h": "2026-03-10T13:34:56Z",
		"2026-03-01T12:00:00Z": "2026-03-01T12:00:00Z", "2026-03-01T12:00:00+02:00": "2026-03-01T10:00:00Z",
	} {
		got, err := ParseTime(text, now)
		if err != nil || got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%s is %v, %v; want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"2026-03-01T12:00:00": `"2026-03-01T12:00:00" has no zone: write 2026-03-01T12:00:00Z for UTC`, "2026-03-01": "write 2026-03-01T00:00:00Z", "2026-03-01 12:30": "write 2026-03-01T12:30:00Z",
		"": "is no time", "yesterday": "is no time", "-": "want a number above 0", "-7": "want a number and s, m, h, d or w", "-7y": "want a number and", "-d": "want a number and", "-9999999d": "want a number and",
		"2026-13-01T00:00:00Z": "is no time",
	} {
		if _, err := ParseTime(text, now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestPeriod(t *testing.T) {
	from, to, err := Period(now.Add(-time.Hour), now)
	if err != nil || from.Format(time.RFC3339) != "2026-03-10T11:00:00Z" || to.Format(time.RFC3339) != "2026-03-10T13:00:00Z" {
		t.Errorf("%v to %v, %v: want the whole hours that are touched", from, to, err)
	}
	full := now.Truncate(time.Hour)
	if _, to, _ := Period(full.Add(-time.Hour), full); !to.Equal(full) {
		t.Errorf("ends %v: an hour that is only touched is outside", to)
	}
	for _, bad := range [][2]time.Time{{now, now}, {now, now.Add(-time.Hour)}, {now.AddDate(-2, 0, 0), now}} {
		if _, _, err := Period(bad[0], bad[1]); err == nil {
			t.Errorf("%v to %v is a period", bad[0], bad[1])
		}
	}
}

func TestQueries(t *testing.T) {
	names := func(a Ask, report string) string {
		qs, err := named(report).Queries(a)
		if err != nil {
			return err.Error()
		}
		var out []string
		for _, q := range qs {
			out = append(out, q.Name+"("+strings.Join(q.GroupBy, ",")+")")
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		ask    Ask
		report string
		want   string
	}{
		{Ask{}, "utilization", "utilization(model) hours() cpu(node_group)"},
		{Ask{GroupBy: []string{"tenant", "day"}}, "utilization", "utilization(tenant,day) hours()"},
		{Ask{Where: []Filter{{"vendor", []string{"amd"}}}}, "utilization", "utilization(model) hours()"},
		{Ask{Only: "budgets"}, "sla", "budgets()"},
		{Ask{Only: "nothing"}, "sla", `report sla has no question "nothing": want one of violations, budgets, times, worst`},
		{Ask{GroupBy: []string{"colour"}}, "health", `report health knows no "colour": want one of cluster`},
		{Ask{Where: []Filter{{"1; DROP TABLE samples", nil}}}, "waste", `report waste knows no "1; DROP TABLE samples"`},
	} {
		if got := names(c.ask, c.report); !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v of %s: %s\nwant %s", c.ask, c.report, got, c.want)
		}
	}
}

// fixed is a store with one answer.
type fixed struct{ Answer }

func (f fixed) Ask(context.Context, Query) (*Answer, error) { a := f.Answer; return &a, nil }
func (f fixed) Currency(context.Context) (string, error)    { return "", nil }

// nasty is what senders may call their tenants.
const nasty = "</td><script>alert(1)</script>\x1b[2J"

func found(t *testing.T) *Result {
	t.Helper()
	a := Answer{Columns: []string{"tenant", "capacity_hours", "allocated_hours", "used_hours", "used_ratio", "tasks", "first_hour", "cost"}, Rows: [][]any{
		{nasty, 10.5, 8.0, 4.0, 0.5, int64(3), now, nil}, {"", 2000.0, 0.0, 0.0, nil, int64(0), nil, nil}}}
	r, err := Make(t.Context(), fixed{a}, named("utilization"), Ask{From: now.Add(-time.Hour), To: now, GroupBy: []string{"tenant"}, Only: "utilization"}, now)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFormats(t *testing.T) {
	r := found(t)
	var table, js, list bytes.Buffer
	if err := r.Table(&table); err != nil {
		t.Fatal(err)
	}
	if s := table.String(); strings.Contains(s, "\x1b") || !strings.Contains(s, "used [%]") || !strings.Contains(s, "(none)") || strings.Contains(s, "cost") {
		t.Errorf("the table has a control character, no unit, or costs without prices:\n%s", s)
	}
	if err := r.Sections[0].CSV(&list); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&list).ReadAll()
	if err != nil || len(rows) != 3 || rows[1][0] != nasty || rows[2][4] != "" || rows[1][6] != "2026-03-10T12:34:56Z" {
		t.Errorf("CSV: %q, %v", rows, err)
	}
	if err := r.JSON(&js); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Sections []struct {
			Columns []struct{ Name, Unit string }
			Rows    []map[string]any
		}
	}
	if err := json.Unmarshal(js.Bytes(), &doc); err != nil || doc.Sections[0].Columns[1].Unit != "h" || doc.Sections[0].Rows[0]["used_ratio"] != 0.5 || doc.Sections[0].Rows[1]["used_ratio"] != nil {
		t.Errorf("JSON: %+v, %v", doc, err)
	}
}

func TestParquet(t *testing.T) {
	var buf bytes.Buffer
	if err := found(t).Sections[0].Parquet(&buf); err != nil {
		t.Fatal(err)
	}
	f, _ := training.ByExtension(".parquet")
	r, err := f.Open(t.Context(), bytes.NewReader(buf.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	if !r.Next() || r.RecordBatch().NumRows() != 2 || r.RecordBatch().Column(4).NullN() != 1 {
		t.Errorf("read back: %v, %v", r.RecordBatch(), r.Err())
	}
	if unit, _ := r.Schema().Field(1).Metadata.GetValue("unit"); unit != "h" {
		t.Errorf("the unit of %v is %q", r.Schema().Field(1), unit)
	}
}

// The page asks nothing of anybody, and no sender's text is markup in it.
func TestHTML(t *testing.T) {
	var buf bytes.Buffer
	if err := found(t).HTML(&buf); err != nil {
		t.Fatal(err)
	}
	page := buf.String()
	for _, bad := range []string{"<script", "http:", "https:", "src=", "url(", "@import", "<link"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, want := range []string{"default-src 'none'", "prefers-color-scheme: dark", "@media print", `role="img"`, "<th scope=\"col\"", "f-used", "(none)", "–"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	svg := page[strings.Index(page, "<figure"):strings.Index(page, "</figure>")]
	d := xml.NewDecoder(strings.NewReader(svg[strings.Index(svg, `<svg viewBox="0 0 720`):]))
	for depth, began := 0, false; !began || depth > 0; {
		tok, err := d.Token()
		if err != nil {
			t.Fatalf("the chart is no XML: %v\n%s", err, svg)
		}
		switch tok.(type) {
		case xml.StartElement:
			depth, began = depth+1, true
		case xml.EndElement:
			depth--
		}
	}
}

func TestCheck(t *testing.T) {
	r := &Result{Sections: []*Section{
		{Query: Query{Question: &Question{Name: "budgets"}}, Answer: Answer{Columns: []string{"tenant", "queue", "promise", "budget_left_ratio"}, Rows: [][]any{{"a", "q", "deadline", 0.2}, {"b", "q", "deadline", -1.0}}}},
		{Query: Query{Question: &Question{Name: "line"}}, Answer: Answer{Columns: []string{"node", "lost"}, Rows: [][]any{{"n1", int64(0)}}}},
	}}
	if err := r.Check(); err == nil || err.Error() != "1 error budgets are overdrawn: b/q/deadline" {
		t.Error(err)
	}
	r.Sections = r.Sections[1:]
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

func named(name string) *Report {
	return Reports[slices.IndexFunc(Reports, func(r *Report) bool { return r.Name == name })]
}
