//go:build cgo && linux

package nvml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
)

// roleEnv says what a run of the test binary is for.
const roleEnv = "SEXTANT_NVML_TEST"

// TestMain builds the library of testdata/fakenvml and runs the tests in a second process,
// because the loader reads LD_LIBRARY_PATH only when a process starts.
func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "tests":
		os.Exit(m.Run())
	case "gather":
		c := New(slog.New(slog.NewTextHandler(os.Stdout, nil)))
		write(os.Stdout, c)
		write(os.Stdout, c)
	default:
		code, err := runWithLibrary()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		os.Exit(code)
	}
}

func runWithLibrary() (code int, err error) {
	dir, err := os.MkdirTemp("", "fakenvml")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	if err := buildLibrary(dir, "testdata/fakenvml/nvml.c"); err != nil {
		return 1, err
	}
	self := exec.Command(os.Args[0], os.Args[1:]...)
	self.Env = append(os.Environ(), roleEnv+"=tests", "LD_LIBRARY_PATH="+dir, "SEXTANT_FAKE_NVML="+filepath.Join(dir, "script"))
	self.Stdout, self.Stderr = os.Stdout, os.Stderr
	err = self.Run()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// buildLibrary compiles one against the header that go-nvml was compiled against.
func buildLibrary(dir, source string) error {
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/NVIDIA/go-nvml").Output()
	if err != nil {
		return fmt.Errorf("find go-nvml: %w", err)
	}
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "gcc"
	}
	text, err := exec.Command(cc, "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-Wl,-soname,libnvidia-ml.so.1",
		"-I"+filepath.Join(strings.TrimSpace(string(module)), "pkg", "nvml"), "-o", filepath.Join(dir, "libnvidia-ml.so.1"), source).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", cc, err, text)
	}
	return nil
}

func write(w io.Writer, c *Collector) {
	fs, err := c.Gatherer().Gather()
	if err != nil {
		fmt.Fprintln(w, err)
	}
	for _, f := range fs {
		_, _ = expfmt.MetricFamilyToText(w, f)
	}
}

type fixture struct {
	t    *testing.T
	logs bytes.Buffer
	c    *Collector
}

func start(t *testing.T, script string) *fixture {
	t.Helper()
	f := &fixture{t: t}
	f.write(script)
	f.c = New(slog.New(slog.NewTextHandler(&f.logs, nil)))
	t.Cleanup(func() {
		if err := f.c.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *fixture) write(script string) {
	f.t.Helper()
	if err := os.WriteFile(os.Getenv("SEXTANT_FAKE_NVML"), []byte(script), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) gather() string {
	f.t.Helper()
	var b bytes.Buffer
	write(&b, f.c)
	return b.String()
}

func (f *fixture) want(page string, lines ...string) {
	f.t.Helper()
	for _, l := range lines {
		if !strings.Contains("\n"+page, "\n"+l+"\n") {
			f.t.Fatalf("no line %s in\n%s", l, page)
		}
	}
}

const oneGPU = `gpus 0 1
nvmlSystemGetDriverVersion 0 580.65.06
nvmlDeviceGetUUID 0 GPU-aaaa
nvmlDeviceGetName 0 NVIDIA L4
nvmlDeviceGetPciInfo_v3 0 00000000:17:00.0
nvmlDeviceGetUtilizationRates 0 97 41
nvmlDeviceGetMemoryInfo_v2 0 25757220864 1073741824 24159191040 524288000
nvmlDeviceGetClockInfo 0 1 2040 6251 1770
nvmlDeviceGetTemperature 0 64
nvmlDeviceGetPowerUsage 0 71250
nvmlDeviceGetTotalEnergyConsumption 0 3000000000
nvmlDeviceGetTotalEccErrors 0 1 2 3 4
nvmlDeviceGetRemappedRows 0 5 6 0 1
nvmlDeviceGetCurrPcieLinkGeneration 0 4
`

const gpu0 = `{DCGM_FI_DRIVER_VERSION="580.65.06",UUID="GPU-aaaa",device="nvidia0",gpu="0",modelName="NVIDIA L4",pci_bus_id="00000000:17:00.0"}`

func TestReadingsInUnitsOfDCGM(t *testing.T) {
	f := start(t, oneGPU)
	page := f.gather()
	f.want(page, `collector_up{collector="nvml"} 1`,
		"DCGM_FI_DEV_GPU_UTIL"+gpu0+" 97", "DCGM_FI_DEV_MEM_COPY_UTIL"+gpu0+" 41",
		"DCGM_FI_DEV_FB_TOTAL"+gpu0+" 24564", "DCGM_FI_DEV_FB_FREE"+gpu0+" 1024", "DCGM_FI_DEV_FB_USED"+gpu0+" 23040", "DCGM_FI_DEV_FB_RESERVED"+gpu0+" 500",
		"DCGM_FI_DEV_SM_CLOCK"+gpu0+" 2040", "DCGM_FI_DEV_MEM_CLOCK"+gpu0+" 6251", "DCGM_FI_DEV_VIDEO_CLOCK"+gpu0+" 1770",
		"DCGM_FI_DEV_GPU_TEMP"+gpu0+" 64", "DCGM_FI_DEV_POWER_USAGE"+gpu0+" 71.25", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"+gpu0+" 3e+09",
		"DCGM_FI_DEV_ECC_SBE_VOL_TOTAL"+gpu0+" 1", "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL"+gpu0+" 2", "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"+gpu0+" 3", "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL"+gpu0+" 4",
		"DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS"+gpu0+" 5", "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS"+gpu0+" 6",
		"DCGM_FI_DEV_ROW_REMAP_PENDING"+gpu0+" 0", "DCGM_FI_DEV_ROW_REMAP_FAILURE"+gpu0+" 1", "DCGM_FI_DEV_PCIE_LINK_GEN"+gpu0+" 4")
	for _, absent := range []string{"FAN_SPEED", "ENC_UTIL", "PCIE_LINK_WIDTH"} { // not supported, twice; not in this library
		if strings.Contains(page, absent) {
			t.Fatal(page)
		}
	}
}

func TestFailuresCostTheirOwn(t *testing.T) {
	f := start(t, strings.Replace(oneGPU, "gpus 0 1", "gpus 0 3", 1)+"fail nvmlDeviceGetPowerUsage 999\nfail nvmlDeviceGetHandleByIndex_v2 15 1\nnvmlDeviceGetTemperature 2 50\n")
	page := f.gather()
	f.want(page, "DCGM_FI_DEV_GPU_TEMP"+gpu0+" 64", `DCGM_FI_DEV_GPU_TEMP{DCGM_FI_DRIVER_VERSION="580.65.06",UUID="",device="nvidia2",gpu="2",modelName="",pci_bus_id=""} 50`)
	if strings.Contains(page, "POWER_USAGE") || strings.Contains(page, `gpu="1"`) {
		t.Fatal(page)
	}
}

func TestDriverComesAndGoes(t *testing.T) {
	f := start(t, "fail nvmlInit_v2 9\n")
	for range 2 {
		f.want(f.gather(), `collector_up{collector="nvml"} 0`)
	}
	for _, s := range []struct{ script, line string }{
		{oneGPU, `collector_up{collector="nvml"} 1`},
		{oneGPU + "fail nvmlDeviceGetCount_v2 9\n", `collector_up{collector="nvml"} 0`},
		{oneGPU, "DCGM_FI_DEV_GPU_UTIL" + gpu0 + " 97"},
		{"gpus 0 0\n", `collector_up{collector="nvml"} 0`},
		{"gpus 0 2\n", `collector_up{collector="nvml"} 0`}, // fallen off the bus
		{oneGPU, "DCGM_FI_DEV_GPU_UTIL" + gpu0 + " 97"},
	} {
		f.write(s.script)
		f.want(f.gather(), s.line)
	}
	for _, l := range []string{"initialise NVML: Driver Not Loaded", "count GPUs: Driver Not Loaded", "the driver has no GPU", "none of 2 GPUs gives a value"} {
		if strings.Count(f.logs.String(), l) != 1 {
			t.Fatalf("%q is not once in\n%s", l, f.logs.String())
		}
	}
}

func TestHostWithoutDriver(t *testing.T) {
	old := t.TempDir()
	if err := buildLibrary(old, "testdata/oldnvml/old.c"); err != nil {
		t.Fatal(err)
	}
	for dir, why := range map[string]string{"/nonexistent": "libnvidia-ml.so.1 cannot be loaded", old: "libnvidia-ml.so.1 is too old, it has no nvmlSystemGetDriverVersion"} {
		self := exec.Command(os.Args[0])
		self.Env = []string{roleEnv + "=gather", "LD_LIBRARY_PATH=" + dir}
		out, err := self.CombinedOutput()
		if text := string(out); err != nil || strings.Count(text, `collector_up{collector="nvml"} 0`) != 2 || strings.Count(text, "level=") != 1 || !strings.Contains(text, why) {
			t.Fatalf("%v: %s", err, text)
		}
	}
}

func TestConfig(t *testing.T) {
	if err := (Config{Interval: 1}).Check("nvml"); err == nil || err.Error() != "nvml.interval: 1ns, want at least 1s" {
		t.Fatal(err)
	}
	if err := (Config{}).Check("nvml"); err != nil {
		t.Fatal(err)
	}
}
