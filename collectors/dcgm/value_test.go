package dcgm

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"sextant/internal/config"
)

func TestBlanks(t *testing.T) {
	for v, blank := range map[int64]bool{
		0x7fffffef: false, 0x7ffffff0: true, 0x7ffffff1: true, 0x7ffffff2: true, 0x7ffffff3: true, 0x7ffffff4: false,
		0x7fffffffffffffef: false, 0x7ffffffffffffff0: true, 0x7ffffffffffffff3: true, 0x7ffffffffffffff4: false,
		0: false, -1: false, 3_000_000_000: false, math.MaxInt64: false,
	} {
		if _, ok := (reading{typ: typeInt64, num: v}).number(); ok == blank {
			t.Errorf("%d: blank %v", v, !ok)
		}
	}
	for v, blank := range map[float64]bool{140737488355327: false, 140737488355328: true, 140737488355328.5: false,
		140737488355331: true, 140737488355332: false, 2147483632: false, 0: false, -1: false, math.Inf(1): false} {
		if _, ok := (reading{typ: typeDouble, float: v}).number(); ok == blank {
			t.Errorf("%g: blank %v", v, !ok)
		}
	}
	if _, ok := (reading{typ: typeDouble, float: math.NaN()}).number(); ok {
		t.Error("NaN is a number")
	}
	for _, s := range []string{"<<<NULL>>>", "<<<NOT_FOUND>>>", "<<<NOT_SUPPORTED>>>", "<<<NOT_PERMISSIONED>>>"} {
		if got := (reading{typ: typeString, text: s}).string(); got != "" {
			t.Errorf("%s is %q", s, got)
		}
	}
	if got := (reading{typ: typeString, text: "<<<"}).string(); got != "<<<" {
		t.Error(got)
	}
}

func TestReadingOfAnotherType(t *testing.T) {
	if v, ok := (reading{typ: typeTimestamp, num: 5}).number(); v != 5 || !ok {
		t.Error(v, ok)
	}
	for _, r := range []reading{{typ: typeString, text: "5"}, {typ: 'b'}, {typ: typeInt64, num: 5, status: -16}, {}} {
		if v, ok := r.number(); ok {
			t.Errorf("%+v is %g", r, v)
		}
	}
	if (reading{typ: typeInt64, text: "x"}).string() != "" || (reading{typ: typeString, text: "x", status: -6}).string() != "" {
		t.Error("a text that is none")
	}
}

func TestRanges(t *testing.T) {
	for want, words := range map[string][]uint64{"": {0, 0}, "0": {1}, "0-3,8": {0x10f}, "63-64": {1 << 63, 1}, "0-127": {math.MaxUint64, math.MaxUint64}, "127": {0, 1 << 63}} {
		if got := ranges(words); got != want {
			t.Errorf("%x: %q, want %q", words, got, want)
		}
	}
	if got := bits([]uint64{5, 1}); !slices.Equal(got, []uint{0, 2, 64}) {
		t.Error(got)
	}
}

func TestTableIsWhole(t *testing.T) {
	fs := table()
	seen := map[scope]int{}
	for _, f := range fs {
		for _, s := range f.scopes {
			seen[s]++
		}
	}
	for name, s := range scopeNames {
		if seen[s] == 0 {
			t.Errorf("nothing is read of %s", name)
		}
	}
	for _, name := range []string{"DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"} {
		if !fs.has(name) {
			t.Errorf("%s is not read", name)
		}
	}
}

func TestFaultyTable(t *testing.T) {
	for line, want := range map[string]string{
		"DCGM_FI_A,gpu,fast,gauge":                                  "fields.csv:2: ",
		"DCGM_FI_A,gpu,fast,gauge,":                                 "want name,entities",
		"dcgm_a,gpu,fast,gauge,h":                                   "want name,entities",
		"DCGM_FI_A,tpu,fast,gauge,h":                                `entity "tpu" is unknown`,
		"DCGM_FI_A,,fast,gauge,h":                                   "no entity",
		"DCGM_FI_A,gpu,often,gauge,h":                               "unknown class or kind",
		"DCGM_FI_A,gpu,fast,summary,h":                              "unknown class or kind",
		"DCGM_FI_A,gpu,fast,gauge,h, h\nDCGM_FI_A,gpu,slow,gauge,h": "fields.csv:3: DCGM_FI_A is there twice",
	} {
		if _, err := parseFields("#\n" + line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", line, err, want)
		}
	}
}

func TestXIDLogTakesEachEventOnce(t *testing.T) {
	l := newXIDLog(time.Time{})
	ev := func(at, code int64) { l.add("d", reading{typ: typeInt64, num: code, at: at}) }
	ev(5, 31)
	ev(5, 31) // the same one again
	ev(5, 79) // another at the same time
	ev(4, 45) // already behind
	ev(6, 31)
	ev(7, 0)
	l.add("d", reading{typ: typeInt64, num: 31, at: 8, status: -14})
	e := l.of("d")
	if e.total != 3 || e.byCode[31] != 2 || e.byCode[79] != 1 || e.last != 6 {
		t.Fatalf("%+v", e)
	}
}

func TestConfig(t *testing.T) {
	c := Defaults()
	if err := c.Check("dcgm"); err != nil || c.Enabled || c.watch(10*time.Second) != 5*time.Second {
		t.Fatal(err, c)
	}
	c.Address = DefaultSocket
	if err := c.Check("dcgm"); err != nil {
		t.Fatal(err)
	}
	c = Config{Address: "localhost", Interval: config.Duration(time.Millisecond), Watch: config.Duration(time.Microsecond),
		Fields: []string{"DCGM_FI_DEV_APP_SM_CLOCK", "gpu_temp"}, Exclude: []string{"DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_X"}}
	want := `dcgm.interval: 1ms, want at least 1s
dcgm.watch: 1µs, want at least 100ms
dcgm.address: "localhost", want host:port or the absolute path of a socket
dcgm.fields[1]: "gpu_temp" is not the name of a DCGM field, such as DCGM_FI_DEV_APP_SM_CLOCK
dcgm.exclude[1]: "DCGM_FI_X" is not read anyway`
	if err := c.Check("dcgm"); err == nil || err.Error() != want {
		t.Fatalf("got\n%v", err)
	}
	c = Defaults()
	c.Interval, c.Watch = config.Duration(5*time.Second), config.Duration(6*time.Second)
	if err := c.Check("dcgm"); err == nil || err.Error() != "dcgm.watch: 6s is longer than the interval 5s" {
		t.Fatal(err)
	}
	if c.watch(10*time.Second) != 6*time.Second || Defaults().watch(0) != 100*time.Millisecond {
		t.Fatal("watch")
	}
}

func FuzzFields(f *testing.F) {
	f.Add(fieldsCSV[:900])
	f.Add("DCGM_FI_A,gpu gi,prof,counter,h,h")
	f.Fuzz(func(t *testing.T, text string) {
		fs, err := parseFields(text)
		if err != nil && fs != nil {
			t.Fatal("fields beside an error")
		}
		for _, x := range fs {
			if !fieldName.MatchString(x.name) || len(x.scopes) == 0 || x.help == "" {
				t.Fatalf("%+v", x)
			}
		}
	})
}
