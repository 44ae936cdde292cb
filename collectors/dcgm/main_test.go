//go:build cgo && linux

package dcgm

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
)

// roleEnv says what a run of the test binary is for.
const roleEnv = "SEXTANT_DCGM_TEST"

// TestMain builds the library of testdata/fakedcgm and runs the tests in a second process,
// because the loader reads LD_LIBRARY_PATH only when a process starts.
func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "tests":
		os.Exit(m.Run())
	case "gather": // without the library, see TestHostWithoutLibrary
		gatherTwice()
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
	dir, err := os.MkdirTemp("", "fakedcgm")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	if err := buildLibrary(filepath.Join(dir, libraryName), "testdata/fakedcgm/*.c"); err != nil {
		return 1, err
	}
	self := exec.Command(os.Args[0], os.Args[1:]...)
	self.Env = append(os.Environ(), roleEnv+"=tests", "LD_LIBRARY_PATH="+dir,
		"SEXTANT_FAKE_DCGM="+filepath.Join(dir, "script"), "SEXTANT_FAKE_DCGM_LOG="+filepath.Join(dir, "log"))
	self.Stdout, self.Stderr = os.Stdout, os.Stderr
	err = self.Run()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// buildLibrary compiles one against the headers that go-dcgm was compiled against.
func buildLibrary(out, from string) error {
	sources, err := filepath.Glob(from)
	if err != nil {
		return err
	}
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/NVIDIA/go-dcgm").Output()
	if err != nil {
		return fmt.Errorf("find go-dcgm: %w", err)
	}
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "gcc"
	}
	args := append([]string{"-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-Wl,-soname," + libraryName,
		"-I" + filepath.Join(strings.TrimSpace(string(dir)), "pkg", "dcgm"), "-o", out}, sources...)
	if text, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cc, err, text)
	}
	return nil
}

// gatherTwice prints what a collector gives, and its log.
func gatherTwice() {
	c := New(Defaults(), 0, slog.New(slog.NewTextHandler(os.Stdout, nil)))
	for range 2 {
		fs, err := c.Gatherer().Gather()
		if err != nil {
			fmt.Println(err)
		}
		for _, f := range fs {
			_, _ = expfmt.MetricFamilyToText(os.Stdout, f)
		}
	}
	if err := c.Close(); err != nil {
		fmt.Println(err)
	}
}
