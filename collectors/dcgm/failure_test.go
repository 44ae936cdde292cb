//go:build cgo && linux

package dcgm

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/NVIDIA/go-dcgm/pkg/dcgm"
)

func (f *fixture) wantLog(parts ...string) {
	f.t.Helper()
	for _, p := range parts {
		if strings.Count(f.logs.String(), p) != 1 {
			f.t.Fatalf("%q is %d times in the log:\n%s", p, strings.Count(f.logs.String(), p), f.logs.String())
		}
	}
}

// TestEngineComesAndGoes: away at the start, there, lost, and back.
func TestEngineComesAndGoes(t *testing.T) {
	f := start(t, "gone\n", nil)
	want(t, f.gather(), `collector_up{collector="dcgm"} 0`)
	f.gather()
	f.wantLog("level=WARN", "Host engine connection invalid/disconnected")
	f.write(twoGPUs)
	want(t, f.gather(), `collector_up{collector="dcgm"} 1`, `DCGM_FI_DEV_GPU_UTIL{`+gpu0+`} 97`)
	f.wantLog(`msg="DCGM is read"`)
	f.write("gone\n")
	page := f.gather()
	want(t, page, `collector_up{collector="dcgm"} 0`)
	wantNo(t, page, "DCGM_FI", "sextant_dcgm") // nothing frozen stays
	f.write(strings.ReplaceAll(twoGPUs, "203 i 97", "203 i 12"))
	want(t, f.gather(), `collector_up{collector="dcgm"} 1`, `DCGM_FI_DEV_GPU_UTIL{`+gpu0+`} 12`)
}

// TestEngineLostWhileReading: half a page is no page.
func TestEngineLostWhileReading(t *testing.T) {
	f := start(t, twoGPUs, nil)
	f.gather()
	f.write(twoGPUs + "fail dcgmEntityGetLatestValues -21\n")
	page := f.gather()
	want(t, page, `collector_up{collector="dcgm"} 0`)
	wantNo(t, page, "sextant_dcgm")
	f.wantLog("host engine is gone: Host engine connection invalid/disconnected")
}

// TestRestartedEngineLosesNoScrape: the connection is dead, but a new one works at once.
func TestRestartedEngineLosesNoScrape(t *testing.T) {
	f := start(t, twoGPUs, nil)
	f.gather()
	_, handle, _ := strings.Cut(f.calls(), "handle=")
	handle, _, _ = strings.Cut(handle, "\n")
	f.write(twoGPUs + "dead " + handle + "\n")
	want(t, f.gather(), `collector_up{collector="dcgm"} 1`, `DCGM_FI_DEV_GPU_UTIL{`+gpu0+`} 97`)
	if n := strings.Count(f.calls(), "\nconnect "); n != 2 {
		t.Fatalf("%d connections\n%s", n, f.calls())
	}
	f.wantLog(`msg="DCGM is read"`)
}

// TestReconnectsLeaveNothing counts what stays after many lost connections.
func TestReconnectsLeaveNothing(t *testing.T) {
	f := start(t, twoGPUs, nil)
	cycle := func(n int) {
		for range n {
			f.write(twoGPUs)
			f.gather()
			f.write("gone\n")
			f.gather()
		}
	}
	cycle(20)
	goroutines, before := runtime.NumGoroutine(), resident(t)
	cycle(200)
	if n := runtime.NumGoroutine(); n > goroutines+2 {
		t.Fatalf("%d goroutines, %d after 20 rounds", n, goroutines)
	}
	if grown := resident(t) - before; grown > 8<<20 {
		t.Fatalf("%d bytes more are resident", grown)
	}
	calls := f.calls()
	if c, d := strings.Count(calls, "\nconnect "), strings.Count(calls, "\ndisconnect "); c != d || c < 219 {
		t.Fatalf("%d connections, %d disconnected", c, d)
	}
	// each connection, and each attempt that failed, ended with the library shut down
	if i, s := strings.Count("\n"+calls, "\ninit\n"), strings.Count(calls, "\nshutdown\n"); i != s || i < 400 {
		t.Fatalf("the library was initialised %d times and shut down %d times", i, s)
	}
}

func resident(t *testing.T) int {
	t.Helper()
	runtime.GC()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(b))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// TestCloseLeavesNothing: a graceful end takes back all watches before it disconnects.
func TestCloseLeavesNothing(t *testing.T) {
	f := start(t, twoGPUs, nil)
	f.gather()
	if err := f.c.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(f.calls(), "disconnect groups=0 fields=0 watches=0\nshutdown") {
		t.Fatal(f.calls())
	}
	want(t, f.gather(), `collector_up{collector="dcgm"} 1`)
}

func TestOneConnectionAProcess(t *testing.T) {
	f := start(t, twoGPUs, nil)
	f.gather()
	second := &fixture{t: t, c: New(f.c.source.(*engine).cfg, 10*time.Second, slog.New(slog.DiscardHandler))}
	want(t, second.gather(), `collector_up{collector="dcgm"} 0`)
	want(t, f.gather(), `collector_up{collector="dcgm"} 1`)
	if err := f.c.Close(); err != nil {
		t.Fatal(err)
	}
	want(t, second.gather(), `collector_up{collector="dcgm"} 1`)
	if err := second.c.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFailuresCostTheirOwn: a field with an error, one that cannot be watched, one that the
// release does not know, one that cannot be read live, a device that does not answer.
func TestFailuresCostTheirOwn(t *testing.T) {
	f := start(t, twoGPUs+`
bad 1 0 155 -18
nowatch 156 -6
unknown 204
nolive 63
mute 1 1 -18
`, func(c *Config) { c.Fields = []string{"DCGM_FI_DEV_NO_SUCH_FIELD"} })
	page := f.gather()
	want(t, page, `collector_up{collector="dcgm"} 1`, `DCGM_FI_DEV_GPU_UTIL{`+gpu0+`} 97`, `DCGM_FI_DEV_GPU_TEMP{`+gpu0+`} 64`,
		`DCGM_FI_DEV_FB_USED{`+gpu0+`} 61235`)
	wantNo(t, page, "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_TOTAL_ENERGY", "DCGM_FI_DEV_MEM_COPY", "DCGM_FI_DEV_GPU_UTIL{"+gpu1, "compute_capability")
	if !strings.Contains(page, `modelName="NVIDIA H100 80GB HBM3",numa_affinity="0"`) {
		t.Fatal(page)
	}
	f.gather()
	f.wantLog(`part=DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION`, `part=DCGM_FI_DEV_MEM_COPY_UTIL`,
		`part=DCGM_FI_DEV_NO_SUCH_FIELD err="not a field of DCGM"`, `part="values of GPU 1"`)
	f.write(twoGPUs)
	f.rescan()
	want(t, f.gather(), `DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{`+gpu0+`} 3e+09`, `DCGM_FI_DEV_GPU_UTIL{`+gpu1+`} 0`)
	f.wantLog(`msg="a part of DCGM is read again" part="values of GPU 1"`)
	if err := f.c.Close(); err != nil || !strings.Contains(f.calls(), "disconnect groups=0 fields=0 watches=0\n") {
		t.Fatal(err, f.calls())
	}
}

// TestProfilingInUseElsewhere: DEV fields go on, the absence is a series, and profiling
// comes back when the other program ends.
func TestProfilingInUseElsewhere(t *testing.T) {
	f := start(t, twoGPUs+"profbusy 0\n", nil)
	page := f.gather()
	want(t, page, `sextant_dcgm_profiling_available{`+gpu0+`} 0`, `DCGM_FI_DEV_GPU_UTIL{`+gpu0+`} 97`)
	wantNo(t, page, "DCGM_FI_PROF")
	f.wantLog(`part="profiling of gpu 0" err="error watching fields: The requested operation could not be completed because the affected resource is in use"`)
	before := f.calls()
	for range 3 {
		f.rescan()
		f.gather()
	}
	if now := f.calls(); now != before { // XID history goes on, no group is left behind
		t.Fatalf("trying again changed other watches:\n%s", strings.TrimPrefix(now, before))
	}
	f.write(twoGPUs)
	f.rescan()
	want(t, f.gather(), `sextant_dcgm_profiling_available{`+gpu0+`} 1`, `DCGM_FI_PROF_GR_ENGINE_ACTIVE{`+gpu0+`} 0.981344`)
}

func TestProfilingOff(t *testing.T) {
	page := start(t, twoGPUs, func(c *Config) { c.Profiling = false; c.Health = false; c.Exclude = []string{"DCGM_FI_DEV_GPU_TEMP"} }).gather()
	wantNo(t, page, "PROF", "profiling", "HEALTH", "GPU_TEMP")
	want(t, page, `DCGM_FI_DEV_GPU_UTIL{`+gpu0+`} 97`)
}

func TestExtraFields(t *testing.T) {
	f := start(t, twoGPUs+"set 1 0 110 i 1980\nset 1 0 1600 i 5\nprof 0 1016\nset 1 0 1016 d 0.5\n", func(c *Config) {
		// the last is a new name of one that is read already
		c.Fields = []string{"DCGM_FI_DEV_APP_SM_CLOCK", "DCGM_FI_PROF_INT_UTIL_RATIO", "DCGM_FI_DEV_GPU_TEMP_CELSIUS"}
	})
	page := f.gather()
	want(t, page, `DCGM_FI_DEV_APP_SM_CLOCK{`+gpu0+`} 1980`, `DCGM_FI_PROF_INT_UTIL_RATIO{`+gpu0+`} 0.5`)
	wantNo(t, page, "GPU_TEMP_CELSIUS")
}

// TestNoDevices: an engine without any device is a fault, not health.
func TestNoDevices(t *testing.T) {
	f := start(t, "# nothing\n", nil)
	want(t, f.gather(), `collector_up{collector="dcgm"} 0`)
	f.wantLog("has no GPU, NVSwitch or CPU")
	f.write(twoGPUs)
	want(t, f.gather(), `collector_up{collector="dcgm"} 1`)
}

// TestReplacedDevice: another device in the slot is another series, and starts its counts.
func TestReplacedDevice(t *testing.T) {
	f := start(t, twoGPUs+"xid 0 9000000000000000 48\n", nil)
	want(t, f.gather(), `sextant_dcgm_xid_events_total{`+gpu0+`} 1`)
	f.write(strings.ReplaceAll(twoGPUs, "GPU-aaaa", "GPU-cccc"))
	f.rescan()
	want(t, f.gather(), `sextant_dcgm_xid_events_total{`+strings.ReplaceAll(gpu0, "GPU-aaaa", "GPU-cccc")+`} 0`)
}

// TestHealthIncident: the worst incident of a check is its value, for its device alone.
func TestHealthIncident(t *testing.T) {
	f := start(t, twoGPUs+"health 1 1 0x10 10 84\nhealth 1 1 0x10 20 80\nhealth 1 1 0x10 10 85\n", nil)
	line := func(gpu, code, watch string) string {
		return strings.NewReplacer(`gpu="0"`, `gpu="0",health_error_code="`+code+`",health_watch="`+watch+`"`,
			`gpu="1"`, `gpu="1",health_error_code="`+code+`",health_watch="`+watch+`"`).Replace("DCGM_EXP_GPU_HEALTH_STATUS{" + gpu + "}")
	}
	want(t, f.gather(), line(gpu1, "80", "MEM")+" 20", line(gpu0, "0", "MEM")+" 0", line(gpu1, "0", "PCIE")+" 0", "sextant_dcgm_health 20")
}

// TestStaleValue: a value that the engine no longer refreshes is absent, not frozen.
func TestStaleValue(t *testing.T) {
	now := time.Now().UnixMicro()
	at := func(age time.Duration) string { return strconv.FormatInt(now-age.Microseconds(), 10) + "\n" }
	base := twoGPUs + "now " + at(0)
	f := start(t, base+"old 1 0 155 "+at(14*time.Second)+"old 1 0 150 "+at(16*time.Second)+"set 1 0 250 i 81559\nold 1 0 250 "+at(80*time.Second)+
		"set 1 0 230 i 31\nold 1 0 230 "+at(time.Hour), nil)
	page := f.gather()
	want(t, page, `DCGM_FI_DEV_POWER_USAGE{`+gpu0+`} 612.5`, // 14 s, watched every 5 s
		`DCGM_FI_DEV_FB_TOTAL{`+gpu0+`} 81559`, // slow
		`DCGM_FI_DEV_XID_ERRORS{`+gpu0+`} 31`,  // an event
		`sextant_dcgm_values{state="stale"} 1`)
	wantNo(t, page, "DCGM_FI_DEV_GPU_TEMP")
}

// TestFrozenEngine: it answers, with what it had before its driver died.
func TestFrozenEngine(t *testing.T) {
	base := twoGPUs + "now 1700000000000000\n"
	f := start(t, base, nil)
	t0 := time.Now()
	for _, s := range []struct {
		after time.Duration
		ok    bool
	}{{0, true}, {10 * time.Second, true}, {20 * time.Second, true}, {30 * time.Second, false}} {
		if _, err := f.c.source.read(t0.Add(s.after)); (err == nil) != s.ok {
			t.Fatalf("after %s: %v", s.after, err)
		}
	}
	f.write(twoGPUs)
	if _, err := f.c.source.read(t0.Add(40 * time.Second)); err != nil {
		t.Fatal(err)
	}
}

func TestEmbeddedIsRefusedBesideAnEngine(t *testing.T) {
	f := start(t, twoGPUs, func(c *Config) { c.Embedded = true })
	want(t, f.gather(), `collector_up{collector="dcgm"} 0`)
	f.wantLog("embedded engine refused: a host engine answers at 127.0.0.1:")
	if strings.Contains(f.calls(), "embedded") {
		t.Fatal(f.calls())
	}
}

func TestEmbedded(t *testing.T) {
	f := start(t, twoGPUs, func(c *Config) { c.Embedded, c.Address = true, "" })
	want(t, f.gather(), `collector_up{collector="dcgm"} 1`, `DCGM_FI_DEV_GPU_UTIL{`+gpu0+`} 97`)
	if err := f.c.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(f.calls(), "embedded stops\nshutdown\n") {
		t.Fatal(f.calls())
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "engine")
	defer listenUnix(t, path).Close()
	f := start(t, twoGPUs, func(c *Config) { c.Address = path })
	want(t, f.gather(), `collector_up{collector="dcgm"} 1`)
	if !strings.Contains(f.calls(), "connect "+path+" unix=1") {
		t.Fatal(f.calls())
	}
}

// TestNothingListens: the library is not even asked, and the line names the address.
func TestNothingListens(t *testing.T) {
	f := start(t, twoGPUs, func(c *Config) { c.Address = "127.0.0.1:1" })
	want(t, f.gather(), `collector_up{collector="dcgm"} 0`)
	f.wantLog("host engine at 127.0.0.1:1 does not answer")
	if f.calls() != "" {
		t.Fatal(f.calls())
	}
}

func TestLostIsTold(t *testing.T) {
	if err := lost(errors.New("x")); err != nil {
		t.Fatal(err)
	}
	f := start(t, twoGPUs, nil)
	f.gather()
	f.write("gone\n")
	if _, err := dcgm.EntityGetLatestValues(dcgm.FE_GPU, 0, []dcgm.Short{203}); !errors.Is(lost(err), errLost) {
		t.Fatal(err)
	}
}

// TestProfilingFieldRefused: fields that the hardware cannot read together cost themselves.
func TestProfilingFieldRefused(t *testing.T) {
	f := start(t, twoGPUs+"nowatch 1004 -38\n", nil)
	want(t, f.gather(), `sextant_dcgm_profiling_available{`+gpu0+`} 1`, `DCGM_FI_PROF_GR_ENGINE_ACTIVE{`+gpu0+`} 0.981344`)
	f.wantLog(`part="profiling of gpu 0: DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"`)
}

func TestComputeCapability(t *testing.T) {
	for n, want := range map[int64]string{9 << 16: "9.0", 8<<16 | 6: "8.6", 12<<32 | 1: "12.1", blankInt64: "", 0: "0.0"} {
		about := identity{dcgm.DCGM_FI_DEV_CUDA_COMPUTE_CAPABILITY: {typ: typeInt64, num: n}}
		if got := about.capability(); got != want {
			t.Errorf("%x: %q, want %q", n, got, want)
		}
	}
}
