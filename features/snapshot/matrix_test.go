package snapshot

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"sextant/features"
	"sextant/features/api"
)

// table is what a client read: by entity (its keys, joined by /), values, statuses and ages.
type table struct {
	header map[string]any
	names  []string
	keys   []string
	values [][]float32
	status [][]uint8
	ages   [][]float32
}

// readRaw reads a flat file as docs/snapshot.md describes it, and with nothing else.
func readRaw(t testing.TB, file []byte) table {
	t.Helper()
	if string(file[:4]) != "SXS1" {
		t.Fatalf("magic %q", file[:4])
	}
	size := binary.LittleEndian.Uint32(file[4:])
	var h struct {
		Rows, Dims int
		Keys       []string `json:"join_keys"`
		Features   []struct{ Name string }
		Views      []struct{ View string }
		Offsets    map[string]int
	}
	out := table{header: map[string]any{}}
	for _, into := range []any{&h, &out.header} {
		if err := json.Unmarshal(file[8:8+size], into); err != nil {
			t.Fatal(err)
		}
	}
	for name, at := range h.Offsets {
		if at%64 != 0 || at < int(8+size) {
			t.Fatalf("section %s at %d behind a header of %d", name, at, size)
		}
	}
	u32 := func(at int) int { return int(binary.LittleEndian.Uint32(file[at:])) }
	f32 := func(at int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(file[at:])) }
	out.keys = make([]string, h.Rows)
	at := h.Offsets["keys"]
	for k := range h.Keys {
		text := at + 4*(h.Rows+1)
		for i := range h.Rows {
			value := string(file[text+u32(at+4*i) : text+u32(at+4*i+4)])
			out.keys[i] = strings.TrimPrefix(out.keys[i]+"/"+value, "/")
		}
		if k < len(h.Keys)-1 {
			at = (text + u32(at+4*h.Rows) + 63) / 64 * 64
		}
	}
	for i := range h.Rows {
		var values, ages []float32
		for d := range h.Dims {
			values = append(values, f32(h.Offsets["values"]+4*(i*h.Dims+d)))
		}
		for w := range h.Views {
			ages = append(ages, f32(h.Offsets["ages"]+4*(i*len(h.Views)+w)))
		}
		out.values, out.ages = append(out.values, values), append(out.ages, ages)
		out.status = append(out.status, file[h.Offsets["status"]+i*h.Dims:][:h.Dims])
	}
	for _, f := range h.Features {
		out.names = append(out.names, f.Name)
	}
	return out
}

func readArrow(t testing.TB, body []byte) table {
	t.Helper()
	r, err := ipc.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	var out table
	meta := r.Schema().Metadata()
	if err := json.Unmarshal([]byte(meta.Values()[meta.FindKey("sextant")]), &out.header); err != nil {
		t.Fatal(err)
	}
	for _, f := range out.header["features"].([]any) {
		out.names = append(out.names, f.(map[string]any)["name"].(string))
	}
	for r.Next() {
		b := r.RecordBatch()
		n := int(b.NumCols())
		for i := range int(b.NumRows()) {
			key := ""
			for k := range n - 3 {
				key += "/" + b.Column(k).(*array.String).Value(i)
			}
			out.keys = append(out.keys, key[1:])
			list := func(c int) (arrowValues any, from, to int64) {
				l := b.Column(c).(*array.FixedSizeList)
				from, to = l.ValueOffsets(i)
				return l.ListValues(), from, to
			}
			v, from, to := list(n - 3)
			out.values = append(out.values, v.(*array.Float32).Float32Values()[from:to])
			v, from, to = list(n - 2)
			out.status = append(out.status, v.(*array.Uint8).Uint8Values()[from:to])
			v, from, to = list(n - 1)
			out.ages = append(out.ages, v.(*array.Float32).Float32Values()[from:to])
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return out
}

func readJSON(t testing.TB, body []byte) table {
	t.Helper()
	var h struct {
		Join     []string `json:"join_keys"`
		Features []struct{ Name string }
		Keys     map[string][]string
		Values   [][]*float32
		Status   [][]uint16
		Ages     [][]*float32
	}
	var out table
	for _, into := range []any{&h, &out.header} {
		if err := json.Unmarshal(body, into); err != nil {
			t.Fatalf("%v in %s", err, body)
		}
	}
	numbers := func(row []*float32) (out []float32) {
		for _, x := range row {
			if x == nil {
				out = append(out, float32(math.NaN()))
			} else {
				out = append(out, *x)
			}
		}
		return out
	}
	for i := range h.Values {
		key := ""
		for _, k := range h.Join {
			key += "/" + h.Keys[k][i]
		}
		out.keys = append(out.keys, key[1:])
		out.values, out.ages = append(out.values, numbers(h.Values[i])), append(out.ages, numbers(h.Ages[i]))
		var st []uint8
		for _, x := range h.Status[i] {
			st = append(st, uint8(x))
		}
		out.status = append(out.status, st)
	}
	for _, f := range h.Features {
		out.names = append(out.names, f.Name)
	}
	return out
}

// rowsOf describes each row; JSON has no word for an infinite number.
func (x table) rowsOf() []string {
	var out []string
	for i, key := range x.keys {
		line := key
		for d, v := range x.values[i] {
			if math.IsInf(float64(v), 0) {
				v = float32(math.NaN())
			}
			line += fmt.Sprintf(" %v:%d", v, x.status[i][d])
		}
		out = append(out, line+fmt.Sprint(x.ages[i]))
	}
	return out
}

// ask reads an answer of the server in a format.
func ask(t testing.TB, s *Server, query, format string) table {
	t.Helper()
	w := get(s.Handler(), "/v1/snapshot?"+query+"&format="+format)
	if w.Code != 200 {
		t.Fatalf("%s: %d %s", query, w.Code, w.Body)
	}
	return map[string]func(testing.TB, []byte) table{"raw": readRaw, "arrow": readArrow, "json": readJSON}[format](t, w.Body.Bytes())
}

// TestMatrixIsWhatTheAPIAnswers compares every value, status and time with those of
// /get-online-features at the moment of the version, on random worlds.
func TestMatrixIsWhatTheAPIAnswers(t *testing.T) {
	names := []string{"PRESENT", "NULL_VALUE", "NOT_FOUND", "OUTSIDE_MAX_AGE"}
	seen := map[string]int{}
	for seed := range uint64(30) {
		w := newWorld()
		w.at(start.Add(8 * time.Second))
		w.randomRows(rand.New(rand.NewPCG(seed, 1)), start.UnixMilli())
		s := published(t, w)
		h, err := api.New(s.store, w.set, api.Options{Now: w.clock})
		if err != nil {
			t.Fatal(err)
		}
		got := ask(t, s, "service=boxes", "raw")
		if len(got.keys) < 5 {
			t.Fatalf("seed %d: %d entities", seed, len(got.keys))
		}
		body, _ := json.Marshal(map[string]any{"feature_service": "boxes", "entities": map[string]any{"node": got.keys}})
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, httptest.NewRequest("POST", "/get-online-features", bytes.NewReader(body)))
		var want struct {
			Results []struct {
				Values   []any
				Statuses []string
				Times    []time.Time `json:"event_timestamps"`
			}
		}
		if err := json.Unmarshal(answer.Body.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		for i, node := range got.keys {
			for d := range got.names {
				c := want.Results[d+1]
				status := names[got.status[i][d]-1]
				value := fmt.Sprint(got.values[i][d])
				wanted := "NaN"
				if x, ok := c.Values[i].(float64); ok {
					wanted = fmt.Sprint(float32(x))
				}
				age := fmt.Sprint(got.ages[i][d/2])
				wantedAge := fmt.Sprint(float32(start.Add(8 * time.Second).Sub(c.Times[i]).Seconds()))
				if c.Times[i].Unix() == 0 || status == "NOT_FOUND" {
					wantedAge = "NaN"
				}
				if value != wanted || status != c.Statuses[i] || age != wantedAge {
					t.Fatalf("seed %d %s %s: %s %s, age %s; the API says %s %s, age %s", seed, node, got.names[d], value, status, age, wanted, c.Statuses[i], wantedAge)
				}
				seen[status]++
			}
		}
	}
	for _, st := range names {
		if seen[st] == 0 {
			t.Errorf("no value was %s", st)
		}
	}
}

// TestFormatsSayTheSame reads every format with code of its own.
func TestFormatsSayTheSame(t *testing.T) {
	w := newWorld()
	w.at(start.Add(8 * time.Second))
	w.randomRows(rand.New(rand.NewPCG(7, 7)), start.UnixMilli())
	s := published(t, w)
	for _, service := range []string{"boxes", "links@v1"} {
		raw := ask(t, s, "service="+service, "raw")
		want := strings.Join(raw.rowsOf(), "\n")
		if len(raw.keys) < 3 || !strings.Contains(want, "n1") {
			t.Fatalf("%s: %s", service, want)
		}
		for _, format := range []string{"arrow", "json"} {
			other := ask(t, s, "service="+service, format)
			if got := strings.Join(other.rowsOf(), "\n"); got != want {
				t.Errorf("%s as %s:\n%s\nraw:\n%s", service, format, got, want)
			}
			for _, key := range []string{"version", "tick", "known", "service", "rows", "dims", "join_keys", "features", "views"} {
				if a, b := fmt.Sprint(raw.header[key]), fmt.Sprint(other.header[key]); a != b {
					t.Errorf("%s as %s: %s is %s, raw says %s", service, format, key, b, a)
				}
			}
		}
	}
}

// TestNothingIsAMatrixToo: a cluster without nodes has a header, and no rows.
func TestNothingIsAMatrixToo(t *testing.T) {
	w := newWorld()
	w.at(start.Add(8 * time.Second))
	s := published(t, w)
	for _, format := range []string{"raw", "arrow", "json"} {
		if x := ask(t, s, "service=boxes", format); len(x.keys) != 0 || len(x.names) != 4 || x.header["rows"] != 0.0 {
			t.Errorf("%s: %+v", format, x)
		}
	}
}

// TestGoldenRaw pins the bytes: readers in other languages count on them.
func TestGoldenRaw(t *testing.T) {
	w := newWorld()
	w.at(start.Add(8 * time.Second))
	at := start.UnixMilli()
	w.add(w.view("fast"), at, at, []float64{0.5, math.NaN()}, "b")
	w.add(w.view("fast"), at-300_000, at, []float64{1, 1}, "a")
	w.add(w.view("slow"), at-300_000, at, []float64{7, math.NaN()}, "b")
	got := get(published(t, w).Handler(), "/v1/snapshot?service=boxes&format=raw").Body.Bytes()
	header := `{"kind":"snapshot","version":1772366400000,"tick":1772366400000,"known":1772366408000,"service":"boxes","service_version":1,"join_keys":["node"],` +
		`"features":[{"name":"busy","view":"fast@v1","dtype":"float32","unit":"ratio"},{"name":"load","view":"fast@v1","dtype":"float32","unit":"ratio"},` +
		`{"name":"size","view":"slow@v1","dtype":"float32","unit":"ratio"},{"name":"spare","view":"slow@v1","dtype":"float32","unit":"ratio"}],` +
		`"views":[{"view":"fast@v1","ttl_seconds":60,"tick":1772366400000,"rows":2,"late":false},{"view":"slow@v1","ttl_seconds":3600,"tick":1772366100000,"rows":1,"late":false}],` +
		`"rows":2,"dims":4,"offsets":{"keys":1024,"values":1088,"status":1152,"ages":1216},"sections":[` +
		`{"name":"keys/node","dtype":"utf8","shape":[2],"offset":1024,"bytes":14},{"name":"values","dtype":"float32","shape":[2,4],"offset":1088,"bytes":32},` +
		`{"name":"status","dtype":"uint8","shape":[2,4],"offset":1152,"bytes":8},{"name":"ages","dtype":"float32","shape":[2,2],"offset":1216,"bytes":16}]}`
	if text := strings.TrimRight(string(got[8:1024]), " "); text != header {
		t.Errorf("header:\n%s\nwant\n%s", text, header)
	}
	nan := "\x00\x00\xc0\x7f"
	pad := func(s string, n int) string { return s + strings.Repeat("\x00", n-len(s)) }
	want := pad("\x00\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00ab", 64) +
		pad(nan+nan+nan+nan+"\x00\x00\x00\x3f"+nan+"\x00\x00\xe0\x40"+"\x00\x00\x00\x3f", 64) +
		pad("\x04\x04\x03\x03\x01\x02\x01\x02", 64) +
		pad("\x00\x00\x9a\x43"+nan+"\x00\x00\x00\x41\x00\x00\x9a\x43", 64)
	if string(got[1024:]) != want {
		t.Errorf("sections:\n%q\nwant\n%q", got[1024:], want)
	}
	if n := binary.LittleEndian.Uint32(got[4:]); string(got[:4]) != "SXS1" || n != 1024-8 {
		t.Errorf("begins with %q, header of %d bytes", got[:4], n)
	}
}

func TestPlans(t *testing.T) {
	w := newWorld()
	ps := newPlans(w.set)
	for service, want := range map[string]string{
		"pairs":    "service: pairs@v1 joins entities (fast by node; task by task): a matrix is of one. Matrices are boxes@v1, links@v1",
		"texts":    "service: texts@v1 has named@v1:kernel, which is a string: a matrix is of numbers. Matrices are boxes@v1, links@v1",
		"nothing":  `service: "nothing" is not defined`,
		"boxes@v2": `service: "boxes@v2" is not defined`,
	} {
		if _, err := ps.find(service); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", service, err, want)
		}
	}
	// The built-in services: all but the one that joins nodes and tasks.
	set, err := features.Read(features.BuiltinSource())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := newPlans(set).list(), "edge_state@v1, node_basics@v1, node_state@v1, task_state@v1"; got != want {
		t.Errorf("matrices are %s, want %s", got, want)
	}
}
