package clickhouse

import (
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string]statement{
		// inserts: head, format, where the data begins
		"INSERT INTO t VALUES (1)":                                       {insert: true, head: "INSERT INTO t ", format: "Values", data: 20},
		"insert into t(a,b)values(1,2)":                                  {insert: true, head: "insert into t(a,b)", format: "Values", data: 24},
		"INSERT INTO t FORMAT CSV\n1\n":                                  {insert: true, head: "INSERT INTO t ", format: "CSV", data: 25},
		"INSERT INTO t FORMAT CSV\r\n1\n":                                {insert: true, head: "INSERT INTO t ", format: "CSV", data: 26},
		"INSERT INTO t FORMAT CSV  1\n":                                  {insert: true, head: "INSERT INTO t ", format: "CSV", data: 26},
		"INSERT INTO t FORMAT Native":                                    {insert: true, head: "INSERT INTO t ", format: "Native", data: 27},
		"INSERT INTO t FORMAT `CSV`\n":                                   {insert: true, head: "INSERT INTO t ", format: "CSV", data: 27},
		"INSERT INTO t (`a)`, b) SETTINGS x = 1 FORMAT TSV\n":            {insert: true, head: "INSERT INTO t (`a)`, b) SETTINGS x = 1 ", format: "TSV", data: 50},
		"INSERT INTO t FORMAT CSV SETTINGS a = -1.5, b = 'x, y'\n1,2":    {insert: true, head: "INSERT INTO t SETTINGS a = -1.5, b = 'x, y' ", format: "CSV", data: 55},
		"INSERT INTO t SETTINGS a=1 FORMAT CSV SETTINGS b=2\n":           {insert: true, head: "INSERT INTO t SETTINGS a=1 ", format: "CSV", data: 38},
		"INSERT INTO TABLE db.values VALUES (1)":                         {insert: true, head: "INSERT INTO TABLE db.values ", format: "Values", data: 34},
		"INSERT INTO format FORMAT CSV\n":                                {insert: true, head: "INSERT INTO format ", format: "CSV", data: 30},
		"INSERT INTO \"values\" VALUES (1)":                              {insert: true, head: "INSERT INTO \"values\" ", format: "Values", data: 27},
		"INSERT INTO FUNCTION null('a UInt8') VALUES (1)":                {insert: true, head: "INSERT INTO FUNCTION null('a UInt8') ", format: "Values", data: 43},
		"-- FORMAT x\n/* VALUES */ INSERT INTO t -- VALUES\n VALUES (1)": {insert: true, head: "-- FORMAT x\n/* VALUES */ INSERT INTO t -- VALUES\n ", format: "Values", data: 56},
		"INSERT INTO t VALUES (1); SELECT 2":                             {insert: true, head: "INSERT INTO t ", format: "Values", data: 20},
		// inserts that have no data behind them, and those that are not complete
		"INSERT INTO t SELECT 1 FORMAT CSV":                            {format: "CSV"},
		"INSERT INTO t WITH 1 AS x SELECT x":                           {},
		"INSERT INTO t SELECT * FROM input('a Int8') FORMAT CSV\n1":    {input: true},
		"INSERT INTO t SELECT * FROM (SELECT a FROM Input ('a Int8'))": {input: true},
		"SELECT * FROM input('a Int8')":                                {},
		"INSERT INTO t (a)":                                            {},
		"INSERT INTO t FROM INFILE 'x' FORMAT CSV":                     {format: "CSV", file: true},
		"INSERT INTO t FORMAT":                                         {},
		"INSERT":                                                       {},
		// others: the trailing FORMAT, several statements, files
		"SELECT 1":              {},
		"SELECT 1 FORMAT JSON":  {format: "JSON"},
		"SELECT 1 FORMAT JSON;": {format: "JSON"},
		"SELECT 1 FORMAT JSON SETTINGS max_threads = 1":     {format: "JSON"},
		"SELECT 1 SETTINGS max_threads = 1 FORMAT JSON":     {format: "JSON"},
		"SELECT format FROM t":                              {},
		"SELECT format native FROM t":                       {},
		"SELECT format x FROM t FORMAT CSV":                 {format: "CSV"},
		"SELECT format('{}', 1)":                            {},
		"(SELECT 1 FORMAT JSON)":                            {},
		"SELECT ' FORMAT JSON', $$ FORMAT CSV; $$, $a$;$a$": {},
		"SELECT 1; SELECT 2":                                {many: true, data: 10},
		"SELECT ';'; /* ; */ ;; -- ;":                       {},
		"SELECT 1 FORMAT JSON; DROP TABLE t":                {format: "JSON", many: true, data: 22},
		"SELECT 1 INTO OUTFILE 'x'":                         {file: true},
		"SELECT 1 INTO OUTFILE 'x' FORMAT CSV":              {file: true, format: "CSV"},
		"":                                                  {empty: true},
		" -- nothing":                                       {empty: true},
		";":                                                 {empty: true},
		"SELECT 'not ended":                                 {},
		"/* not ended":                                      {empty: true},
	} {
		if got := split(text); got != want {
			t.Errorf("%q:\ngot  %+v\nwant %+v", text, got, want)
		}
	}
}

// What split says of a statement, the engine must say as well.
func TestSplitAgreesWithEngine(t *testing.T) {
	tbl := table(t, "a String, format String")
	for statement, want := range map[string]string{
		"INSERT INTO " + tbl + " (a) FORMAT CSV\nx\n":                              "x",
		"INSERT INTO " + tbl + " (a) FORMAT CSV SETTINGS max_threads = 1\ny\n":     "y",
		"INSERT INTO " + tbl + " (format, a) VALUES ('-- ; FORMAT', 'it''s; \\'')": "it's; '",
		"INSERT INTO " + tbl + " /* ( */ (a) -- FORMAT\n VALUES ('z')":             "z",
		"INSERT INTO " + tbl + " (a) FORMAT JSONEachRow {\"a\": \"j\"}":            "j",
		"INSERT INTO " + tbl + " (a) SETTINGS max_threads = 1 SELECT 's'":          "s",
		"INSERT INTO " + tbl + " (a) SELECT 'input(x)' FORMAT CSV":                 "input(x)",
	} {
		post(t, shared.Addr(), statement)
		if got := strings.TrimSuffix(post(t, shared.Addr(), "SELECT a FROM "+tbl+" FORMAT TabSeparatedRaw"), "\n"); got != want {
			t.Errorf("%s: stored %q, want %q", statement, got, want)
		}
		post(t, shared.Addr(), "TRUNCATE TABLE "+tbl)
	}
}

func FuzzSplit(f *testing.F) {
	for _, text := range []string{
		"INSERT INTO t (a) SETTINGS x = 1.5 FORMAT CSV SETTINGS y = 'z'\n1", "SELECT 1 FORMAT JSON; SELECT $$;$$", "INSERT INTO a.`b` VALUES (1)", "-- x\n/*", "INSERT INTO FUNCTION f('", "INSERT INTO t FORMAT x SETTINGS a=",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := split(text)
		if s.data < 0 || s.data > len(text) {
			t.Fatalf("data at %d of %d", s.data, len(text))
		}
		if s.insert && (s.format == "" && !strings.ContainsAny(text, "`\"") || !strings.HasPrefix(text, s.head[:min(len(s.head), len(text))]) && !strings.Contains(strings.ToUpper(text), "SETTINGS")) {
			t.Errorf("%q: %+v", text, s)
		}
		// A comment in front changes nothing but the place of the data.
		c := split("/* ; FORMAT x */" + text)
		if c.insert != s.insert || c.format != s.format || c.many != s.many || c.file != s.file || c.empty != s.empty {
			t.Errorf("%q: %+v, with a comment %+v", text, s, c)
		}
	})
}
