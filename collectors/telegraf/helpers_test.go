package telegraf

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	upstream "github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/plugins/inputs"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"go.uber.org/goleak"

	"sextant/collectors/plugins"
)

func TestMain(m *testing.M) {
	inputs.Add("test_func", func() upstream.Input { return &funcInput{} })
	inputs.Add("test_service", func() upstream.Input { return &service{} })
	// A secret in a file is sealed, and its key is changed for as long as the process lives.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/awnumar/memguard/core.NewCoffer.func1"))
}

// funcInput is an input whose reading the test decides, by the name in the file.
type funcInput struct {
	Call string `toml:"call"`
}

var calls sync.Map // of func(upstream.Accumulator) error, by funcInput.Call

func (*funcInput) SampleConfig() string { return "" }
func (f *funcInput) Gather(acc upstream.Accumulator) error {
	call, _ := calls.Load(f.Call)
	return call.(func(upstream.Accumulator) error)(acc)
}

// on makes inputs.test_func with this call do f.
func on(t *testing.T, call string, f func(upstream.Accumulator) error) {
	t.Helper()
	calls.Store(call, f)
	t.Cleanup(func() { calls.Delete(call) })
}

// service is an input that pushes.
type service struct{ funcInput }

func (*service) Start(upstream.Accumulator) error { return nil }
func (*service) Stop()                            {}

// conf writes a file of Telegraf.
func conf(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "telegraf.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// opened is a set with its log and its metrics.
type opened struct {
	*Set
	log bytes.Buffer
	reg *prometheus.Registry
}

func open(t *testing.T, text string, c plugins.Config) *opened {
	t.Helper()
	o := &opened{reg: prometheus.NewRegistry()}
	c.Config = conf(t, text)
	s, err := openSet(c, plugins.Options{Node: "n1", Interval: 10e9, Log: slog.New(slog.NewTextHandler(&o.log, nil)), Register: o.reg})
	if err != nil {
		t.Fatal(err)
	}
	o.Set = s
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

// read gathers all plugins and wants no error.
func (o *opened) read(t *testing.T) string {
	t.Helper()
	fs, err := o.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return page(t, fs)
}

// page is the text format without comments.
func page(t *testing.T, fs []*dto.MetricFamily) string {
	t.Helper()
	var b strings.Builder
	for _, f := range fs {
		if _, err := expfmt.MetricFamilyToText(&b, f); err != nil {
			t.Fatal(err)
		}
	}
	lines := slices.DeleteFunc(strings.SplitAfter(b.String(), "\n"), func(l string) bool { return strings.HasPrefix(l, "#") })
	return strings.Join(lines, "")
}

// types are the types of the families.
func types(fs []*dto.MetricFamily) map[string]string {
	m := map[string]string{}
	for _, f := range fs {
		m[f.GetName()] = f.GetType().String()
	}
	return m
}

func wantLines(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains("\n"+got, "\n"+w) {
			t.Errorf("no line begins with %q in\n%s", w, got)
		}
	}
}

func script(t *testing.T, body string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.sh")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+body), 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}

func link(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Symlink(from, to); err != nil {
		t.Fatal(err)
	}
}
