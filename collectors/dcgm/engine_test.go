//go:build cgo && linux

package dcgm

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/NVIDIA/go-dcgm/pkg/dcgm"
	"github.com/prometheus/common/expfmt"
)

// fixture is an engine and a collector of it.
type fixture struct {
	t      *testing.T
	script string
	logs   bytes.Buffer
	c      *Collector
}

// twoGPUs is an engine with two whole devices, NVLinks between them and one MIG-less life.
const twoGPUs = `
entity 1 0
entity 1 1
set 1 0 54 s GPU-aaaa
set 1 0 50 s NVIDIA H100 80GB HBM3
set 1 0 57 s 00000000:17:00.0
set 1 0 53 s 1650123
set 1 0 1 s 580.65.06
set 1 0 5 i 13000
set 1 0 63 i 589824
set 1 0 70 i 0xff00000000
set 1 0 86 i 1
set 1 0 55 i 0
set 1 1 54 s GPU-bbbb
set 1 1 50 s NVIDIA H100 80GB HBM3
set 1 1 57 s 00000000:2A:00.0
peer 0 1 0x2000010
peer 1 0 0x2000010
link gpu 0 3 3
link gpu 1 3 2
set 1 0 203 i 97
set 1 0 155 d 612.5
set 1 0 156 i 3000000000
set 1 0 150 i 64
set 1 0 140 i 9223372036854775794
set 1 0 191 i 2147483634
set 1 0 252 i 61235
set 1 1 203 i 0
set 1 1 155 d 140737488355330
prof 0 1001 1002 1004 1005 1009
set 1 0 1001 d 0.981344
set 1 0 1005 d 0.412907
`

func start(t *testing.T, script string, change func(*Config)) *fixture {
	t.Helper()
	f := &fixture{t: t}
	if err := os.WriteFile(os.Getenv("SEXTANT_FAKE_DCGM_LOG"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.write(script)
	cfg := Defaults()
	cfg.Address = listen(t)
	if change != nil {
		change(&cfg)
	}
	if err := cfg.Check("dcgm"); err != nil {
		t.Fatal(err)
	}
	f.c = New(cfg, 10*time.Second, slog.New(slog.NewTextHandler(&f.logs, nil)))
	t.Cleanup(func() { _ = f.c.Close() })
	return f
}

// listen stands in for the port of nv-hostengine, which is only asked whether it answers.
func listen(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

func listenUnix(t testing.TB, path string) net.Listener {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (f *fixture) write(script string) {
	f.t.Helper()
	f.script = script
	if err := os.WriteFile(os.Getenv("SEXTANT_FAKE_DCGM"), []byte(script), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) calls() string {
	f.t.Helper()
	b, err := os.ReadFile(os.Getenv("SEXTANT_FAKE_DCGM_LOG"))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(b)
}

// gather collects once and returns the exposition without comments.
func (f *fixture) gather() string {
	f.t.Helper()
	fs, err := f.c.Gatherer().Gather()
	if err != nil {
		f.t.Fatal(err)
	}
	var b bytes.Buffer
	for _, m := range fs {
		if _, err := expfmt.MetricFamilyToText(&b, m); err != nil {
			f.t.Fatal(err)
		}
	}
	var out []string
	for _, l := range strings.Split(b.String(), "\n") {
		if !strings.HasPrefix(l, "#") {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

// rescan makes the next reading look at entities again, as after a minute.
func (f *fixture) rescan() {
	f.t.Helper()
	f.c.source.(*engine).conn.scanned = time.Time{}
}

const driver0 = `DCGM_FI_DRIVER_VERSION="580.65.06"`
const bare0 = `UUID="GPU-aaaa",device="nvidia0",gpu="0",modelName="NVIDIA H100 80GB HBM3",pci_bus_id="00000000:17:00.0"`
const gpu0 = driver0 + "," + bare0
const gpu1 = `UUID="GPU-bbbb",device="nvidia1",gpu="1",modelName="NVIDIA H100 80GB HBM3",pci_bus_id="00000000:2A:00.0"`

func want(t *testing.T, page string, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if !strings.Contains("\n"+page+"\n", "\n"+l+"\n") {
			t.Errorf("no line %s", l)
		}
	}
	if t.Failed() {
		t.Log(page)
		t.FailNow()
	}
}

func wantNo(t *testing.T, page string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(page, p) {
			t.Fatalf("%s is in\n%s", p, page)
		}
	}
}

func TestFieldsAsTheExporterNamesThem(t *testing.T) {
	f := start(t, twoGPUs, nil)
	page := f.gather()
	want(t, page,
		`collector_up{collector="dcgm"} 1`,
		`DCGM_FI_DEV_GPU_UTIL{`+gpu0+`} 97`,
		`DCGM_FI_DEV_GPU_UTIL{`+gpu1+`} 0`,
		`DCGM_FI_DEV_POWER_USAGE{`+gpu0+`} 612.5`,
		`DCGM_FI_DEV_GPU_TEMP{`+gpu0+`} 64`,
		`DCGM_FI_DEV_FB_USED{`+gpu0+`} 61235`,
		// above 2^31, where a blank test with >= loses it
		`DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{`+gpu0+`} 3e+09`,
		`DCGM_FI_PROF_GR_ENGINE_ACTIVE{`+gpu0+`} 0.981344`,
		`sextant_dcgm_profiling_available{`+gpu0+`} 1`,
		`sextant_dcgm_profiling_available{`+gpu1+`} 0`,
		`sextant_dcgm_xid_events_total{`+gpu0+`} 0`,
		`sextant_dcgm_gpu_status{`+gpu1+`} 1`,
		`DCGM_EXP_GPU_HEALTH_STATUS{`+driver0+`,UUID="GPU-aaaa",device="nvidia0",gpu="0",health_error_code="0",health_watch="MEM",modelName="NVIDIA H100 80GB HBM3",pci_bus_id="00000000:17:00.0"} 0`)
	// blanks of each type: int64 NOT_SUPPORTED, a widened int32, fp64 NOT_SUPPORTED
	wantNo(t, page, "DCGM_FI_DEV_MEMORY_TEMP", "DCGM_FI_DEV_FAN_SPEED", "DCGM_FI_DEV_POWER_USAGE{"+gpu1, "DCGM_FI_DEV_XID_ERRORS")
	// what GPU 1 has no profiling for, and no word about the CPU of another maker
	if n := strings.Count(f.logs.String(), "\n"); n != 2 || !strings.Contains(f.logs.String(), `msg="DCGM is read"`) {
		t.Fatalf("log:\n%s", f.logs.String())
	}
}

func TestIdentityAndTopology(t *testing.T) {
	page := start(t, twoGPUs, nil).gather()
	want(t, page,
		`sextant_dcgm_gpu_info{DCGM_FI_CUDA_DRIVER_VERSION="13000",DCGM_FI_DEV_SERIAL="1650123",DCGM_FI_DRIVER_VERSION="580.65.06",UUID="GPU-aaaa",compute_capability="9.0",cpu_affinity="32-39",device="nvidia0",gpu="0",minor_number="0",modelName="NVIDIA H100 80GB HBM3",numa_affinity="0",pci_bus_id="00000000:17:00.0"} 1`,
		`sextant_dcgm_gpu_peer_info{`+driver0+`,UUID="GPU-aaaa",device="nvidia0",gpu="0",link="NV18",modelName="NVIDIA H100 80GB HBM3",pci_bus_id="00000000:17:00.0",peer_UUID="GPU-bbbb",peer_gpu="1"} 1`,
		`sextant_dcgm_nvlink_state{device="nvidia0",gpu="0",gpu_uuid="GPU-aaaa",model_name="NVIDIA H100 80GB HBM3",nvlink="3",pci_bus_id="00000000:17:00.0"} 3`,
		`sextant_dcgm_nvlink_state{device="nvidia1",gpu="1",gpu_uuid="GPU-bbbb",model_name="NVIDIA H100 80GB HBM3",nvlink="3",pci_bus_id="00000000:2A:00.0"} 2`)
	if strings.Count(page, "sextant_dcgm_nvlink_state") != 2 {
		t.Fatal(page)
	}
	if !strings.Contains(page, `sextant_dcgm_engine_info{address="127.0.0.1:`) || !strings.Contains(page, `version="4.4.1"} 1`) {
		t.Fatal(page)
	}
}

func TestWatchPeriods(t *testing.T) {
	f := start(t, twoGPUs, nil)
	f.gather()
	calls := f.calls()
	for _, w := range []string{
		"watch entities=2,1,0 fields=", // all GPUs together
		"every=5000000 keep=0 samples=1",
		"every=30000000 keep=0 samples=1",
		"watch entities=2,1,0 fields=1 every=5000000 keep=600 samples=0", // XID history
		"watch entities=1,1,0 fields=5 every=5000000",                    // what GPU 0's profiling has, no more
		"health systems=ffffffff",
	} {
		if !strings.Contains(calls, w) {
			t.Errorf("no %q in\n%s", w, calls)
		}
	}
	f.gather()
	if now := f.calls(); now != calls {
		t.Fatalf("the second reading changed watches:\n%s", strings.TrimPrefix(now, calls))
	}
}

func TestMIG(t *testing.T) {
	mig := twoGPUs + `
entity 4 11
entity 4 12
entity 5 21
mig 4 11 1 0 0 1 0xffffffff 3
mig 5 21 4 11 0 1 0 3
mig 4 12 1 0 0 5 0xffffffff 1
set 4 11 50 s 3g.40gb
set 4 12 50 s 1g.10gb
set 5 21 50 s 3c.3g.40gb
set 4 11 1001 d 0.75
set 4 11 252 i 20000
set 5 21 1001 d 0.75
`
	gi := func(id, profile string) string {
		return `GPU_I_ID="` + id + `",GPU_I_PROFILE="` + profile + `",` + bare0
	}
	f := start(t, mig, func(c *Config) { c.ComputeInstances = true })
	page := f.gather()
	want(t, page,
		`DCGM_FI_PROF_GR_ENGINE_ACTIVE{`+driver0+","+gi("1", "3g.40gb")+`} 0.75`,
		`DCGM_FI_DEV_FB_USED{`+driver0+","+gi("1", "3g.40gb")+`} 20000`,
		`DCGM_FI_PROF_GR_ENGINE_ACTIVE{`+driver0+`,GPU_CI_ID="0",GPU_CI_PROFILE="3c.3g.40gb",`+gi("1", "3g.40gb")+`} 0.75`,
		`sextant_dcgm_mig_slices{`+driver0+","+gi("5", "1g.10gb")+`} 1`)
	// what is physical is there once, on the device
	if strings.Count(page, "DCGM_FI_DEV_POWER_USAGE{") != 1 || strings.Count(page, "DCGM_FI_DEV_GPU_UTIL{") != 2 {
		t.Fatal(page)
	}
	// A changed layout is seen by the next reading, without waiting for the minute.
	before := strings.Count(f.calls(), "watch entities=")
	f.write(strings.ReplaceAll(mig, "mig 4 12 1 0 0 5", "mig 4 12 1 0 0 6"))
	want(t, f.gather(), `sextant_dcgm_mig_slices{`+driver0+","+gi("6", "1g.10gb")+`} 1`)
	if now := strings.Count(f.calls(), "watch entities="); now != 2*before {
		t.Fatalf("%d watches, then %d: another instance under an old id must be watched anew", before, now-before)
	}
	f.write(twoGPUs)
	wantNo(t, f.gather(), "GPU_I_ID")
	// The engine holds the watches of the last layout, and nothing of those before.
	e := f.c.source.(*engine)
	w := e.conn.watches
	if err := e.conn.drop(); err != nil {
		t.Fatal(err)
	}
	e.conn = nil
	if left := fmt.Sprintf("disconnect groups=%d fields=%d watches=%d\n", len(w.groups), len(w.fields), len(w.active)); !strings.Contains(f.calls(), left) {
		t.Fatalf("no %s in\n%s", left, f.calls())
	}
}

func TestNVSwitchLinksAndGraceCPUs(t *testing.T) {
	link := 3 | 5<<8 | 2<<24 // NVSwitch 2, port 5
	f := start(t, fmt.Sprintf(`
entity 3 2
entity 6 %d
link switch 2 5 3
set 3 2 858 i 41
set 6 %d 780 i 123
entity 7 0
cpu 0 0xf
set 7 0 1101 d 0.25
set 7 0 1110 d 55.5
set 8 3 1101 d 0.5
`, link, link), func(c *Config) { c.Cores = true })
	want(t, f.gather(),
		`collector_up{collector="dcgm"} 1`,
		`DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT{nvswitch="nvswitch2"} 41`,
		`DCGM_FI_DEV_NVSWITCH_LINK_THROUGHPUT_TX{nvlink="5",nvswitch="nvswitch2"} 123`,
		`sextant_dcgm_nvlink_state{nvlink="5",nvswitch="nvswitch2"} 3`,
		`DCGM_FI_DEV_CPU_UTIL_USER{cpu="0"} 0.25`,
		`DCGM_FI_DEV_CPU_TEMP_CURRENT{cpu="0"} 55.5`,
		`DCGM_FI_DEV_CPU_UTIL_USER{cpu="0",cpucore="3"} 0.5`,
		`sextant_dcgm_cpu_info{cores="0-3",cpu="0"} 1`)
}

func TestXIDEvents(t *testing.T) {
	at := func(s int) int64 { return time.Now().Add(time.Hour + time.Duration(s)*time.Second).UnixMicro() }
	code := func(c string) string {
		return gpu0 + `,xid="` + c + `"`
	}
	f := start(t, twoGPUs+fmt.Sprintf("xid 0 %d 0\nxid 0 %d 9223372036854775792\n", at(-9), at(-8)), nil)
	page := f.gather()
	want(t, page, `sextant_dcgm_xid_events_total{`+gpu0+`} 0`)
	wantNo(t, page, "DCGM_EXP_XID_ERRORS_TOTAL", "xid_last_event")

	// The field keeps showing the last code; only the history tells that it came twice.
	first, second := at(0), at(1)
	script := twoGPUs + fmt.Sprintf("set 1 0 230 i 31\nold 1 0 230 %d\nxid 0 %d 31\nxid 0 %d 31\n", first, first, second)
	f.write(script)
	page = f.gather()
	want(t, page, `DCGM_FI_DEV_XID_ERRORS{`+gpu0+`} 31`,
		`sextant_dcgm_xid_events_total{`+gpu0+`} 2`, `sextant_dcgm_xid_events_total{`+gpu1+`} 0`,
		`DCGM_EXP_XID_ERRORS_TOTAL{`+code("31")+`} 2`,
		fmt.Sprintf(`sextant_dcgm_xid_last_event_timestamp_seconds{%s} %s`, gpu0, number(float64(second)/1e6)))
	want(t, f.gather(), `sextant_dcgm_xid_events_total{`+gpu0+`} 2`)
	if since := f.c.source.(*engine).xid.since.UnixMicro(); since != second+1 {
		t.Fatalf("the history is read from %d, want %d", since, second+1)
	}

	// Two at once on one device, and a lost connection in between.
	f.write("gone\n")
	f.gather()
	f.write(script + fmt.Sprintf("xid 0 %d 79\nxid 0 %d 45\n", at(2), at(2)))
	want(t, f.gather(), `sextant_dcgm_xid_events_total{`+gpu0+`} 4`, `DCGM_EXP_XID_ERRORS_TOTAL{`+code("31")+`} 2`,
		`DCGM_EXP_XID_ERRORS_TOTAL{`+code("79")+`} 1`, `DCGM_EXP_XID_ERRORS_TOTAL{`+code("45")+`} 1`)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func TestHostWithoutLibrary(t *testing.T) {
	wantOneLine(t, gatherWith(t, ""), "libdcgm.so.4 cannot be loaded")
}

// TestOldLibrary: a call of a function that is not there would end the process.
func TestOldLibrary(t *testing.T) {
	dir := t.TempDir()
	if err := buildLibrary(filepath.Join(dir, libraryName), "testdata/olddcgm/*.c"); err != nil {
		t.Fatal(err)
	}
	wantOneLine(t, gatherWith(t, dir), "libdcgm.so.4 is too old, it has no dcgmShutdown, dcgmConnect_v2, ")
}

// gatherWith collects twice in a process that looks for the library in dir.
func gatherWith(t *testing.T, dir string) string {
	t.Helper()
	self := exec.Command(os.Args[0])
	self.Env = []string{roleEnv + "=gather", "LD_LIBRARY_PATH=" + dir}
	out, err := self.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func wantOneLine(t *testing.T, out, why string) {
	t.Helper()
	if strings.Count(out, `collector_up{collector="dcgm"} 0`) != 2 || strings.Count(out, "level=") != 1 || !strings.Contains(out, why) {
		t.Fatal(out)
	}
}

// TestEveryFieldIsKnown: the names of the table are names of fields of the headers.
func TestEveryFieldIsKnown(t *testing.T) {
	ids := map[dcgm.Short]string{}
	for _, f := range table() {
		id, ok := dcgm.GetFieldID(f.name)
		if !ok || ids[id] != "" {
			t.Errorf("%s: known %v, the same as %q", f.name, ok, ids[id])
		}
		ids[id] = f.name
	}
}
