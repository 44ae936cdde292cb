package simulate

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const dutyCSV = "value,timestamp_anon,container_ip\n50.0,1000.0,b\n10.0,1000.0,a\n90.0,1057.0,a\n,1057.0,b\n25.0,1114.0,b\n"
const memoryCSV = "timestamp_anon,value,container_ip\n1000.0,1073741824.0,a\n1057.0,2147483648.0,a\n"

func writeFile(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func tarGz(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []interface{ Close() error }{w, z} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func TestLoadTraceReadsArchivesAndPlainFiles(t *testing.T) {
	plain := strings.Replace(dutyCSV, ",1057.0,b\n", "NaN,1057.0,b\n", 1)
	duty := writeFile(t, "duty.tar.gz", tarGz(t, "pod_gpu_duty_cycle_anon.csv", plain))
	tr, err := LoadTrace(duty, writeFile(t, "memory.csv", []byte(memoryCSV)))
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.Series) != 2 {
		t.Fatalf("%d series", len(tr.Series))
	}
	a, b := &tr.Series[0], &tr.Series[1] // by name
	for _, tc := range []struct {
		s           *Series
		t           float64
		busy, bytes float64
	}{
		{a, 0, 0.1, 1 << 30}, {a, 56, 0.1, 1 << 30}, {a, 57, 0.1, 1 << 30} /* again from the start */, {a, 113, 0.1, 1 << 30},
		{b, 0, 0.5, 0}, {b, 57, 0.5, 0}, {b, 113.9, 0.5, 0}, {b, -5, 0.5, 0},
	} {
		if busy, bytes := tc.s.at(tc.t); busy != tc.busy || bytes != tc.bytes {
			t.Errorf("at %g s: %g and %g bytes, want %g and %g", tc.t, busy, bytes, tc.busy, tc.bytes)
		}
	}
	if a.Busy[1] != 0.9 || a.Bytes[1] != 2<<30 {
		t.Errorf("second point: %g, %g", a.Busy[1], a.Bytes[1])
	}
}

func TestLoadTraceNamesFileAndLine(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", "header: EOF"},
		{"column", "value,time,container_ip\n", `line 1: no column "timestamp_anon"`},
		{"no rows", "value,timestamp_anon,container_ip\n", "no rows"},
		{"number", "value,timestamp_anon,container_ip\n1,2,a\nx,2,a\n", `line 3: time "2" and value "x"`},
		{"fields", "value,timestamp_anon,container_ip\n1,2\n", "line 2: wrong number of fields"},
		{"infinite", "value,timestamp_anon,container_ip\n1,+Inf,a\n", "line 2: time"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := writeFile(t, "d.csv", []byte(tc.text))
			_, err := LoadTrace(path, "")
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want it to name the file and %s", err, tc.want)
			}
		})
	}
	if _, err := LoadTrace(writeFile(t, "x.tar.gz", tarGz(t, "readme.txt", "no")), ""); err == nil || !strings.Contains(err.Error(), "no .csv file in the archive") {
		t.Errorf("got %v", err)
	}
}

func TestATraceDrivesTheDevices(t *testing.T) {
	tr, err := LoadTrace(writeFile(t, "d.csv", []byte("value,timestamp_anon,container_ip\n80,0,a\n20,600,a\n0,1200,a\n")),
		writeFile(t, "m.csv", []byte("value,timestamp_anon,container_ip\n4294967296,0,a\n")))
	if err != nil {
		t.Fatal(err)
	}
	cfg := mustParse(t, "groups: [{name: a, devices: [{vendor: nvidia, model: L4}]}]\nworkload: {source: trace, trace: {duty: d.csv}}\n")
	if _, err := New(cfg, nil, start); err == nil {
		t.Fatal("a trace is needed, and nobody said so")
	}
	c, err := New(cfg, tr, start)
	if err != nil {
		t.Fatal(err)
	}
	mean := func(until time.Duration) float64 {
		sum, n := 0.0, 0
		for c.Now().Before(start.Add(until)) {
			c.Step(Tick)
			sum, n = sum+c.Nodes[0].Devices[0].Busy, n+1
		}
		return sum / float64(n)
	}
	// The work began when the cluster did, 3 minutes before it was first seen.
	if got := mean(7*time.Minute - time.Second); got < 0.75 || got > 0.85 {
		t.Errorf("busy %.2f in the first 10 minutes, want 0.80", got)
	}
	if m := c.Nodes[0].Devices[0].Memory; m != 4<<30 {
		t.Errorf("%g bytes in use, want 4 GiB", m)
	}
	c.Step(2 * Tick)
	if got := mean(16 * time.Minute); got < 0.17 || got > 0.23 {
		t.Errorf("busy %.2f in the second 10 minutes, want 0.20", got)
	}
}

func FuzzReadTrace(f *testing.F) {
	f.Add([]byte(dutyCSV))
	f.Add([]byte(memoryCSV))
	f.Add([]byte("container_ip,value,timestamp_anon\na,NaN,1\na,1,1\na,2,0\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		points, err := readTrace(bytes.NewReader(text))
		if err != nil {
			return
		}
		for _, s := range joinTrace(points, nil).Series {
			for _, at := range []float64{-1, 0, 1, 1e9} {
				if busy, bytes := s.at(at); !(busy >= 0 && busy <= 1) || bytes != 0 {
					t.Fatalf("busy %g, %g bytes at %g", busy, bytes, at)
				}
			}
		}
	})
}
