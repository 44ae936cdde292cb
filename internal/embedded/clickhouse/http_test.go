package clickhouse

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// answer is what a plain HTTP client sees.
type answer struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
}

func send(t *testing.T, method, params string, body io.Reader, headers ...string) answer {
	t.Helper()
	return sendTo(t, shared.Addr(), method, params, body, headers...)
}

func sendTo(t *testing.T, addr, method, params string, body io.Reader, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+addr+"/?"+params, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	client := http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, string(b), err}
}

// Statements as curl would send them.
func TestHTTP(t *testing.T) {
	tbl := table(t, "a UInt64, b String DEFAULT 'd'")
	for name, c := range map[string]struct {
		method, params, body string
		headers              []string
		status, code         int    // code: X-ClickHouse-Exception-Code
		want                 string // the body, or with code a part of it
		format, media        string
	}{
		"GET without a query":     {method: "GET", want: "Ok.\n"},
		"GET":                     {method: "GET", params: form("query", "SELECT 1"), want: "1\n", format: "TabSeparated", media: "text/tab-separated-values; charset=UTF-8"},
		"HEAD":                    {method: "HEAD", params: form("query", "SELECT 1")},
		"POST":                    {method: "POST", body: "SELECT 1", want: "1\n"},
		"query and body":          {method: "POST", params: form("query", "SELECT 1 +"), body: "2", want: "3\n"},
		"trailing semicolon":      {method: "POST", body: "SELECT 1; -- done", want: "1\n"},
		"FORMAT":                  {method: "POST", body: "SELECT 1 AS a FORMAT JSONEachRow", want: "{\"a\":1}\n", format: "JSONEachRow", media: "application/x-ndjson; charset=UTF-8"},
		"no colours":              {method: "POST", body: "SELECT getSetting('output_format_pretty_color')", want: "0\n"},
		"default_format":          {method: "POST", params: "default_format=CSVWithNames", body: "SELECT 1 AS a", want: "\"a\"\n1\n", format: "CSVWithNames"},
		"X-ClickHouse-Format":     {method: "POST", headers: []string{"X-ClickHouse-Format", "CSV"}, body: "SELECT 'a'", want: "\"a\"\n", format: "CSV"},
		"header once":             {method: "POST", params: form("max_block_size", "1"), body: "SELECT number AS n FROM numbers(3) FORMAT CSVWithNames", want: "\"n\"\n0\n1\n2\n"},
		"totals":                  {method: "POST", body: "SELECT number % 2 AS k, count() FROM numbers(3) GROUP BY k WITH TOTALS ORDER BY k", want: "0\t2\n1\t1\n\n0\t3\n"},
		"unknown format":          {method: "POST", body: "SELECT 1 FORMAT Nope", code: 73, want: "Nope"},
		"show":                    {method: "POST", body: "SHOW TABLES LIKE 'no such'"},
		"explain":                 {method: "POST", body: "EXPLAIN SYNTAX SELECT 1", want: "SELECT 1\nFROM system.one\n"},
		"parameter":               {method: "POST", params: form("param_x", "it's"), body: "SELECT {x:String}", want: "it\\'s\n"},
		"parameter missing":       {method: "POST", body: "SELECT {x:String}", code: 456, want: "x"},
		"parameter is a value":    {method: "POST", params: form("param_x", "1 UNION ALL SELECT 2"), body: "SELECT {x:UInt8}", code: 457, want: "UNION"},
		"setting":                 {method: "POST", params: "max_block_size=17", body: "SELECT getSetting('max_block_size')", want: "17\n"},
		"unknown setting":         {method: "POST", params: "no_such=1", body: "SELECT 1", status: 400, code: 115, want: "no_such"},
		"setting of a bad value":  {method: "POST", params: "max_threads=many", body: "SELECT 1", code: 27, want: "many"},
		"database":                {method: "POST", params: "database=system", body: "SELECT currentDatabase()", want: "system\n"},
		"database header":         {method: "POST", headers: []string{"X-ClickHouse-Database", "system"}, body: "SELECT currentDatabase()", want: "system\n"},
		"unknown database":        {method: "POST", params: "database=nope`", body: "SELECT 1", status: 404, code: 81, want: "nope\\`"},
		"session":                 {method: "POST", params: "session_id=x", body: "SELECT 1", status: 501, code: 48, want: "session"},
		"two statements":          {method: "POST", body: "SELECT 1; SELECT 2", status: 400, code: 62, want: "Multi-statements are not allowed"},
		"two statements, JSON":    {method: "POST", body: "SELECT 1 FORMAT JSON; DROP TABLE " + tbl, status: 400, code: 62, want: "Multi-statements are not allowed"},
		"nothing":                 {method: "POST", body: " -- nothing", status: 400, code: 62, want: "Empty query"},
		"syntax":                  {method: "POST", body: "SELEC", status: 400, code: 62, want: "SELEC"},
		"unknown table":           {method: "POST", body: "SELECT * FROM nope", status: 404, code: 60, want: "(UNKNOWN_TABLE) (version 26."},
		"too long":                {method: "POST", params: "max_query_size=100", body: "SELECT '" + strings.Repeat("x", 100) + "'", status: 400, code: 62, want: "Max query size exceeded"},
		"long enough":             {method: "POST", params: "max_query_size=1000000", body: "SELECT length('" + strings.Repeat("x", 500_000) + "')", want: "500000\n"},
		"GET may not write":       {method: "GET", params: form("query", "INSERT INTO "+tbl+" (a) VALUES (1)"), status: 403, code: 164, want: "readonly"},
		"GET may not create":      {method: "GET", params: form("query", "CREATE TABLE x (a UInt8) ENGINE = Memory", "readonly", "0"), status: 403, code: 164, want: "readonly"},
		"GET may set":             {method: "GET", params: form("query", "SELECT getSetting('readonly')", "max_threads", "1"), want: "2\n"},
		"readonly = 1":            {method: "POST", params: "max_threads=1&readonly=1", body: "SET max_threads = 2", code: 164, want: "readonly"},
		"PUT":                     {method: "PUT", body: "SELECT 1", status: 501, code: 48, want: "PUT"},
		"user default":            {method: "POST", headers: []string{"X-ClickHouse-User", "default"}, body: "SELECT currentUser()", want: "default\n"},
		"user by header":          {method: "POST", headers: []string{"X-ClickHouse-User", "bob"}, body: "SELECT 1", status: 403, code: 516, want: "bob: Authentication failed"},
		"user by basic":           {method: "POST", headers: []string{"Authorization", "Basic Ym9iOng="}, body: "SELECT 1", status: 403, code: 516, want: "bob"},
		"user by URL":             {method: "POST", params: "user=bob", body: "SELECT 1", status: 403, code: 516, want: "bob"},
		"a password":              {method: "POST", params: "password=x", body: "SELECT 1", status: 403, code: 516, want: "password is incorrect"},
		"another host":            {method: "POST", headers: []string{"Host", "evil.example:8123"}, body: "SELECT 1", status: 403, code: 497, want: "evil.example"},
		"time limit":              {method: "POST", params: "max_execution_time=1", body: "SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1", status: 408, code: 159, want: "Timeout exceeded"},
		"memory limit":            {method: "POST", params: "max_memory_usage=1000000", body: "SELECT groupArray(number) FROM numbers(10000000)", status: 500, code: 241, want: "memory limit"},
		"files of this machine":   {method: "POST", body: "SELECT * FROM file('/etc/passwd', LineAsString)", status: 403, code: 497, want: "READ ON FILE"},
		"files through default":   {method: "POST", body: "SELECT * FROM default.`/etc/passwd`", status: 403, code: 497, want: "READ ON FILE"},
		"the network":             {method: "POST", body: "SELECT * FROM url('http://127.0.0.1:1/', LineAsString)", status: 403, code: 497, want: "READ ON URL"},
		"INTO OUTFILE":            {method: "POST", body: "SELECT 1 INTO OUTFILE '/tmp/x'", status: 400, code: 358, want: "OUTFILE"},
		"FROM INFILE":             {method: "POST", body: "INSERT INTO " + tbl + " FROM INFILE '/etc/passwd' FORMAT LineAsString", status: 400, code: 358, want: "INFILE"},
		"input()":                 {method: "POST", body: "INSERT INTO " + tbl + " (a) SELECT * FROM input('a UInt64') FORMAT CSV\n1\n", status: 501, code: 48, want: "input()"},
		"unknown encoding":        {method: "POST", headers: []string{"Content-Encoding", "lzma"}, body: "x", status: 501, code: 48, want: "lzma"},
		"broken gzip":             {method: "POST", headers: []string{"Content-Encoding", "gzip"}, body: "not gzip", code: 271, want: "decompress"},
		"broken frames":           {method: "POST", params: form("decompress", "1", "query", "INSERT INTO "+tbl+" FORMAT CSV"), body: strings.Repeat("x", 100), code: 271, want: "decompress"},
		"settings do not stay":    {method: "POST", body: "SET max_block_size = 5"},
		"USE does not stay":       {method: "POST", body: "USE system"},
		"the user cannot be made": {method: "POST", body: "CREATE USER x", status: 403, code: 497, want: "CREATE USER"},
	} {
		t.Run(name, func(t *testing.T) {
			a := send(t, c.method, c.params, strings.NewReader(c.body), c.headers...)
			if a.err != nil {
				t.Fatal(a.err)
			}
			wantCode := ""
			if c.code != 0 {
				wantCode = fmt.Sprint(c.code)
			} else if c.status == 0 {
				c.status = 200
			}
			if got := a.header.Get("X-ClickHouse-Exception-Code"); got != wantCode || c.status != 0 && a.status != c.status {
				t.Errorf("status %d code %q, want %d and %q: %.300s", a.status, got, c.status, wantCode, a.body)
			}
			if c.code == 0 && a.body != c.want || !strings.Contains(a.body, c.want) {
				t.Errorf("body %.300q, want %q", a.body, c.want)
			}
			if c.code != 0 && !strings.HasPrefix(a.body, "Code: "+wantCode+". DB::Exception: ") {
				t.Errorf("body %.300q is no exception of ClickHouse", a.body)
			}
			if got := a.header.Get("X-ClickHouse-Format"); c.format != "" && got != c.format {
				t.Errorf("format %q, want %q", got, c.format)
			}
			if got := a.header.Get("Content-Type"); c.media != "" && got != c.media {
				t.Errorf("Content-Type %q, want %q", got, c.media)
			}
			if a.header.Get("X-ClickHouse-Query-Id") == "" && c.status != 501 && c.status != 400 {
				t.Error("no query id")
			}
		})
	}
	if got := post(t, shared.Addr(), "SELECT count() FROM "+tbl); got != "0\n" {
		t.Errorf("refused statements left %q rows", got)
	}
	if got := post(t, shared.Addr(), "SELECT currentDatabase(), getSetting('max_block_size')"); got != "default\t65409\n" {
		t.Errorf("a new request finds %q", got)
	}
}

func TestPing(t *testing.T) {
	for path, want := range map[string]int{"/ping": 200, "/nope": 404} {
		r, err := http.Get("http://" + shared.Addr() + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
}

// A page of another site that a browser of this machine shows cannot send statements.
func TestCrossOrigin(t *testing.T) {
	a := send(t, "POST", "", strings.NewReader("SELECT 1"), "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example")
	if a.status != http.StatusForbidden {
		t.Errorf("status %d: %s", a.status, a.body)
	}
}

// Inserts in every format, the data in the body, behind the statement, and in the URL.
func TestHTTPInsert(t *testing.T) {
	tbl := table(t, "a UInt64, b String DEFAULT 'd'")
	insert := func(format string) string { return form("query", "INSERT INTO "+tbl+" (a, b) FORMAT "+format) }
	exported := func(format string) string {
		return send(t, "POST", "", strings.NewReader("SELECT toUInt64(number) AS a, toString(number) AS b FROM numbers(3) FORMAT "+format)).body
	}
	for name, c := range map[string]struct {
		params, body string
		want         string // rows
	}{
		"CSV":                 {insert("CSV"), "1,x\n2,y\n", "1\tx\n2\ty\n"},
		"TabSeparated":        {insert("TSV"), "1\tx\n", "1\tx\n"},
		"JSONEachRow":         {insert("JSONEachRow"), `{"a":1,"b":"x"}{"a":2}`, "1\tx\n2\td\n"},
		"Values in the URL":   {form("query", "INSERT INTO "+tbl+" VALUES (1, 'x')"), "", "1\tx\n"},
		"Values in the body":  {form("query", "INSERT INTO "+tbl+" VALUES"), "(1, 'x'), (2, upper('y'))", "1\tx\n2\tY\n"},
		"all in the body":     {"", "INSERT INTO " + tbl + " (a) FORMAT CSV\n1\n2\n", "1\td\n2\td\n"},
		"VALUES in the body":  {"", "INSERT INTO " + tbl + " (a) VALUES (1), (1 + 1)", "1\td\n2\td\n"},
		"Native":              {insert("Native"), exported("Native"), "0\t0\n1\t1\n2\t2\n"},
		"RowBinary":           {insert("RowBinary"), exported("RowBinary"), "0\t0\n1\t1\n2\t2\n"},
		"Parquet":             {insert("Parquet"), exported("Parquet"), "0\t0\n1\t1\n2\t2\n"},
		"ArrowStream":         {insert("ArrowStream"), exported("ArrowStream"), "0\t0\n1\t1\n2\t2\n"},
		"no data, CSV":        {insert("CSV"), "", ""},
		"no data, Native":     {insert("Native"), "", ""},
		"no data, JSON":       {insert("JSONEachRow"), "", ""},
		"INSERT SELECT":       {"", "INSERT INTO " + tbl + " (a) SELECT number FROM numbers(2)", "0\td\n1\td\n"},
		"with a parameter":    {form("param_n", "7"), "INSERT INTO " + tbl + " (a) SELECT {n:UInt64}", "7\td\n"},
		"parameter in VALUES": {form("param_n", "7"), "INSERT INTO " + tbl + " (a) VALUES ({n:UInt64})", "7\td\n"},
		"settings":            {form("query", "INSERT INTO "+tbl+" (a) SETTINGS max_threads = 1 FORMAT CSV", "async_insert", "0"), "1\n", "1\td\n"},
	} {
		t.Run(name, func(t *testing.T) {
			a := send(t, "POST", c.params, strings.NewReader(c.body))
			if a.status != 200 || a.body != "" {
				t.Fatalf("status %d: %s", a.status, a.body)
			}
			if got := post(t, shared.Addr(), "SELECT * FROM "+tbl+" ORDER BY a"); got != c.want {
				t.Errorf("rows %q, want %q", got, c.want)
			}
			var s struct {
				Written int `json:"written_rows,string"`
			}
			if err := json.Unmarshal([]byte(a.header.Get("X-ClickHouse-Summary")), &s); err != nil || s.Written != strings.Count(c.want, "\n") {
				t.Errorf("summary %s, %v", a.header.Get("X-ClickHouse-Summary"), err)
			}
			post(t, shared.Addr(), "TRUNCATE TABLE "+tbl)
		})
	}
	for name, c := range map[string]struct {
		params, body string
		code         int
	}{
		"bad number":      {insert("CSV"), "x,1\n", 27},
		"cut Native":      {insert("Native"), exported("Native")[:30], 33},
		"wrong columns":   {form("query", "INSERT INTO "+tbl+" (nope) FORMAT CSV"), "1", 16},
		"unknown format":  {insert("Nope"), "1", 73},
		"unknown table":   {form("query", "INSERT INTO nope FORMAT CSV"), "1", 60},
		"no format":       {form("query", "INSERT INTO "+tbl), "1", 62},
		"bad data behind": {insert("CSV"), strings.Repeat("1,x\n", 200_000) + "x", 27},
	} {
		t.Run(name, func(t *testing.T) {
			a := send(t, "POST", c.params, strings.NewReader(c.body))
			if got := a.header.Get("X-ClickHouse-Exception-Code"); got != fmt.Sprint(c.code) {
				t.Errorf("code %s, want %d: %.300s", got, c.code, a.body)
			}
		})
	}
	if got := post(t, shared.Addr(), "SELECT count() FROM "+tbl); got != "0\n" {
		t.Errorf("failed inserts left %s rows", got)
	}
}

// A client that goes away in the middle of its data has inserted nothing.
func TestInsertIsCut(t *testing.T) {
	tbl := table(t, "a UInt64")
	ctx, cancel := context.WithCancel(t.Context())
	pr, pw := io.Pipe()
	r, err := http.NewRequestWithContext(ctx, "POST", "http://"+shared.Addr()+"/?"+form("query", "INSERT INTO "+tbl+" FORMAT CSV"), pr)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		res, err := http.DefaultClient.Do(r)
		if err == nil {
			res.Body.Close()
		}
		ended <- err
	}()
	if _, err := pw.Write(bytes.Repeat([]byte("1\n"), 10)); err != nil {
		t.Fatal(err)
	}
	cancel()
	pw.CloseWithError(context.Canceled)
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	eventually(t, "the insert holds its slot", func() bool { return len(shared.slots.free) == 0 })
	if got := post(t, shared.Addr(), "SELECT count() FROM "+tbl); got != "0\n" {
		t.Errorf("%s rows", got)
	}
}

func TestRequestEncodings(t *testing.T) {
	tbl := table(t, "a UInt64")
	var rows strings.Builder
	for i := range 50_000 {
		fmt.Fprintln(&rows, i)
	}
	pack := func(open func(io.Writer) io.WriteCloser) string {
		var b bytes.Buffer
		w := open(&b)
		io.WriteString(w, rows.String())
		w.Close()
		return b.String()
	}
	frames := func(m compress.Method, size int) string {
		var b bytes.Buffer
		w := compress.NewWriter(compress.LevelZero, m)
		for s := []byte(rows.String()); len(s) > 0; s = s[min(size, len(s)):] {
			if err := w.Compress(s[:min(size, len(s))]); err != nil {
				t.Fatal(err)
			}
			b.Write(w.Data)
		}
		return b.String()
	}
	for name, c := range map[string]struct{ encoding, params, body string }{
		"gzip":           {"gzip", "", pack(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })},
		"deflate":        {"deflate", "", pack(func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })},
		"br":             {"br", "", pack(func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) })},
		"zstd":           {"zstd", "", pack(func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z })},
		"frames lz4":     {"", "decompress=1&", frames(compress.LZ4, 1000)},
		"frames zstd":    {"", "decompress=1&", frames(compress.ZSTD, 1<<20)},
		"frames none":    {"", "decompress=1&", frames(compress.None, 77777)},
		"frames in gzip": {"gzip", "decompress=1&", pack(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })},
	} {
		t.Run(name, func(t *testing.T) {
			body := c.body
			if name == "frames in gzip" {
				var b bytes.Buffer
				z := gzip.NewWriter(&b)
				io.WriteString(z, frames(compress.LZ4, 1000))
				z.Close()
				body = b.String()
			}
			var headers []string
			if c.encoding != "" {
				headers = []string{"Content-Encoding", c.encoding}
			}
			params := c.params + form("query", "INSERT INTO "+tbl+" FORMAT CSV")
			if a := send(t, "POST", params, strings.NewReader(body), headers...); a.status != 200 {
				t.Fatalf("status %d: %s", a.status, a.body)
			}
			if got := post(t, shared.Addr(), "SELECT count(), sum(a) FROM "+tbl); got != "50000\t1249975000\n" {
				t.Errorf("rows %q", got)
			}
			post(t, shared.Addr(), "TRUNCATE TABLE "+tbl)
			// A body that is cut anywhere is an error and inserts nothing of it.
			for _, cut := range []int{len(body) - 1, len(body) / 2, 20, 10} {
				if a := send(t, "POST", params, strings.NewReader(body[:cut]), headers...); a.status == 200 {
					t.Errorf("cut at %d of %d: accepted", cut, len(body))
				}
			}
			if got := post(t, shared.Addr(), "SELECT count() FROM "+tbl); got != "0\n" {
				t.Errorf("cut bodies left %s rows", got)
			}
		})
	}
}

func TestAnswerEncodings(t *testing.T) {
	const query = "SELECT number FROM numbers(300000)"
	plain := post(t, shared.Addr(), query)
	for accept, want := range map[string]string{"gzip": "gzip", "deflate": "deflate", "br": "br", "zstd": "zstd", "gzip;q=0": "", "identity": "", "x, gzip, br": "gzip", "": ""} {
		t.Run(accept, func(t *testing.T) {
			a := send(t, "POST", "", strings.NewReader(query), "Accept-Encoding", accept)
			if got := a.header.Get("Content-Encoding"); got != want {
				t.Fatalf("encoding %q, want %q", got, want)
			}
			var r io.Reader = strings.NewReader(a.body)
			var err error
			switch want {
			case "gzip":
				r, err = gzip.NewReader(r)
			case "deflate":
				r, err = zlib.NewReader(r)
			case "br":
				r = brotli.NewReader(r)
			case "zstd":
				r, err = zstd.NewReader(r)
			}
			if err != nil {
				t.Fatal(err)
			}
			if b, err := io.ReadAll(r); err != nil || string(b) != plain {
				t.Errorf("%d bytes, %v; want %d", len(b), err, len(plain))
			}
		})
	}
	for method, setting := range map[string]string{"lz4": "", "zstd": "&network_compression_method=ZSTD&network_zstd_compression_level=3", "none": "&network_compression_method=NONE"} {
		t.Run("frames "+method, func(t *testing.T) {
			a := send(t, "POST", "compress=1"+setting, strings.NewReader(query), "Accept-Encoding", "gzip")
			var b bytes.Buffer
			if _, err := b.ReadFrom(newUnframer(strings.NewReader(a.body))); err != nil || b.String() != plain {
				t.Errorf("%d bytes, %v; want %d", b.Len(), err, len(plain))
			}
		})
	}
	if a := send(t, "POST", "enable_http_compression=0", strings.NewReader("SELECT 1"), "Accept-Encoding", "gzip"); a.body != "1\n" {
		t.Errorf("compressed against the setting: %q", a.body)
	}
	if a := send(t, "POST", "", strings.NewReader("SELECT nope"), "Accept-Encoding", "gzip"); !strings.HasPrefix(a.body, "Code: 47.") {
		t.Errorf("an exception is not plain: %q", a.body)
	}
}

// An exception behind bytes that are on their way already.
func TestExceptionInTheMiddle(t *testing.T) {
	const query = "SELECT number, throwIf(number = 400000, 'here it is') FROM numbers(1000000)"
	a := send(t, "POST", "max_threads=1", strings.NewReader(query))
	tag := a.header.Get("X-ClickHouse-Exception-Tag")
	i := strings.Index(a.body, "\r\n__exception__\r\n"+tag+"\r\nCode: 395. DB::Exception: here it is")
	if a.status != 200 || len(tag) != 16 || i < bufferSize {
		t.Fatalf("status %d, tag %q, exception at %d of %d", a.status, tag, i, len(a.body))
	}
	if !strings.HasSuffix(a.body, " "+tag+"\r\n__exception__\r\n") {
		t.Errorf("the body ends in %q", a.body[max(0, len(a.body)-100):])
	}
	if !errors.Is(a.err, io.ErrUnexpectedEOF) {
		t.Errorf("a client that knows nothing of the block sees %v", a.err)
	}
	// wait_end_of_query gives it a status instead.
	if a := send(t, "POST", "max_threads=1&wait_end_of_query=1", strings.NewReader(query)); a.status != 500 || a.header.Get("X-ClickHouse-Exception-Code") != "395" || a.err != nil {
		t.Errorf("wait_end_of_query: status %d, %v", a.status, a.err)
	}
	if a := send(t, "POST", "wait_end_of_query=1", strings.NewReader("SELECT number FROM numbers(1000000)")); len(a.body) != 6888890 || a.header.Get("Content-Length") != "6888890" {
		t.Errorf("wait_end_of_query: %d bytes, %q", len(a.body), a.header.Get("Content-Length"))
	}
	// So does a bare small result.
	if a := send(t, "POST", "max_block_size=1", strings.NewReader("SELECT throwIf(number = 100) FROM numbers(200)")); a.status != 500 {
		t.Errorf("an early exception: status %d", a.status)
	}
}

// Rows arrive while the statement still runs.
func TestStreams(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "POST", "http://"+shared.Addr()+"/?buffer_size=0&max_block_size=1&max_threads=1",
		strings.NewReader("SELECT number, sleepEachRow(0.5) FROM numbers(1000)"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	line := make([]byte, 4)
	if _, err := io.ReadFull(res.Body, line); err != nil || string(line) != "0\t0\n" {
		t.Errorf("first row %q, %v", line, err)
	}
	cancel()
	eventually(t, "the statement runs on", func() bool { return len(shared.slots.free) == 0 })
}
