package telegraf

import (
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	upstream "github.com/influxdata/telegraf"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"sextant/collectors/plugins"
	"sextant/collectors/scrape"
	"sextant/collectors/spool"
	"sextant/schema/wire"
)

// first is the first reading of the only plugin.
func first(t *testing.T, o *opened) []*dto.MetricFamily {
	t.Helper()
	fs, err := o.Plugins[0].Gather()
	if err != nil {
		t.Fatal(err)
	}
	return fs
}

func counter(t *testing.T, reg *prometheus.Registry, name string) (sum float64) {
	t.Helper()
	fs, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fs {
		for _, m := range f.Metric {
			if f.GetName() == name {
				sum += m.Counter.GetValue()
			}
		}
	}
	return sum
}

func TestMissingProgramIsOneLine(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for name, text := range map[string]string{
		"nvidia_smi":   "[[inputs.nvidia_smi]]\n  bin_path = '/no/nvidia-smi'\n",
		"amd_rocm_smi": "[[inputs.amd_rocm_smi]]\n  bin_path = '/no/rocm-smi'\n",
		"smart":        "[[inputs.smart]]\n",
		"exec":         "[[inputs.exec]]\n  commands = ['/no/script.sh']\n",
	} {
		t.Run(name, func(t *testing.T) {
			o := open(t, text, plugins.Config{})
			for range 3 {
				if fs, err := o.Gather(); err == nil || len(fs) > 0 {
					t.Fatalf("%v: %d families", err, len(fs))
				}
			}
			if got := o.log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "plugin="+name+" line=1 err=") {
				t.Errorf("want one line in the log, got\n%s", got)
			}
		})
	}
}

// TestProgramThatComesLater: starting is tried again.
func TestProgramThatComesLater(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	o := open(t, fmt.Sprintf("[[inputs.nvidia_smi]]\n  bin_path = %q\n", dir+"/nvidia-smi"), plugins.Config{})
	if _, err := o.Gather(); err == nil || !strings.Contains(err.Error(), "start: ") {
		t.Fatal(err)
	}
	link(t, script(t, `echo '<nvidia_smi_log><driver_version>1</driver_version><gpu><product_name>P</product_name><uuid>u</uuid><fan_speed>12 %</fan_speed></gpu></nvidia_smi_log>'`), dir+"/nvidia-smi")
	wantLines(t, o.read(t), `nvidia_smi_fan_speed{`)
	if !strings.Contains(o.log.String(), "is read again") {
		t.Error(o.log.String())
	}
}

func TestPartsThatFail(t *testing.T) {
	on(t, "part", func(acc upstream.Accumulator) error {
		acc.AddGauge("g", map[string]any{"v": 1}, nil)
		acc.AddError(errors.New("no such device"))
		return nil
	})
	o := open(t, "[[inputs.test_func]]\ncall = 'part'\n", plugins.Config{})
	fs, err := o.Gather()
	if err == nil || err.Error() != "no such device" || page(t, fs) != "g_v{host=\"n1\"} 1\n" {
		t.Fatalf("%v: %s", err, page(t, fs))
	}
}

func TestPanicIsContained(t *testing.T) {
	on(t, "panic", func(acc upstream.Accumulator) error {
		acc.AddGauge("g", map[string]any{"v": 1}, nil)
		panic("index out of range")
	})
	o := open(t, "[[inputs.test_func]]\ncall = 'panic'\n", plugins.Config{})
	for range 2 {
		if fs, err := o.Gather(); err == nil || err.Error() != "the plugin panicked: index out of range" || len(fs) > 0 {
			t.Fatalf("%v: %d families", err, len(fs))
		}
	}
	if got := counter(t, o.reg, "sextant_telegraf_panics_total"); got != 2 {
		t.Errorf("%g panics counted, want 2", got)
	}
	if got := o.log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "failure_test.go") {
		t.Errorf("want one line with the stack, got\n%s", got)
	}
}

// TestLateMetrics: what a plugin gives after its reading is in none, and is not kept.
func TestLateMetrics(t *testing.T) {
	var before *accumulator
	on(t, "late", func(acc upstream.Accumulator) error {
		if before != nil {
			before.AddGauge("late", map[string]any{"v": 1}, nil)
		}
		before = acc.(*accumulator)
		acc.AddGauge("g", map[string]any{"v": 1}, nil)
		return nil
	})
	o := open(t, "[[inputs.test_func]]\ncall = 'late'\n", plugins.Config{})
	o.read(t)
	first := before
	if got := o.read(t); got != "g_v{host=\"n1\"} 1\n" || len(first.metrics) != 1 {
		t.Fatalf("%d metrics in the first reading; %s", len(first.metrics), got)
	}
}

// TestTooManyMetrics: the rest of a flood is dropped, and said.
func TestTooManyMetrics(t *testing.T) {
	on(t, "flood", func(acc upstream.Accumulator) error {
		for range maxMetrics + 2 {
			acc.AddGauge("g", map[string]any{"v": 1}, nil)
		}
		return nil
	})
	fs, err := open(t, "[[inputs.test_func]]\ncall = 'flood'\n", plugins.Config{}).Gather()
	if err == nil || err.Error() != "2 metrics over the limit of 100000 were dropped" || len(fs) != 1 {
		t.Fatalf("%v: %d families", err, len(fs))
	}
}

// sink remembers the last "up" of each target.
type sink struct {
	mu  sync.Mutex
	ups map[string]float64 // guarded by mu
	err error              // guarded by mu
}

func (s *sink) Append(e spool.Entry) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var d wire.Decoder
	if err := d.Scan(e.Payload); err != nil {
		s.err = err
		return 0, nil
	}
	for i := range d.NumSeries {
		if err := d.Labels(i, func(name, value []byte) bool {
			if string(name) == "__name__" && string(value) == "up" {
				s.ups[e.Target] = d.Values[i]
			}
			return true
		}); err != nil {
			s.err = err
		}
	}
	return 1, nil
}

// TestEachPluginHasItsOwnUp runs the plugins as the agent does: one hangs, one panics,
// one fails, and those beside them are read on.
func TestEachPluginHasItsOwnUp(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) }) // before the set is closed
	on(t, "hang", func(upstream.Accumulator) error { <-release; return nil })
	on(t, "panic", func(upstream.Accumulator) error { panic("p") })
	o := open(t, "[agent]\ninterval = '1s'\n[[inputs.test_func]]\nalias='hang'\ncall='hang'\n[[inputs.mem]]\n"+
		"[[inputs.test_func]]\nalias='panic'\ncall='panic'\n[[inputs.exec]]\ncommands=['/no/such']\n", plugins.Config{})
	s := &sink{ups: map[string]float64{}}
	scraper, err := scrape.New(scrape.Options{Node: "n1", Sink: s, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Register: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(scraper.Close)
	t.Cleanup(func() { release <- struct{}{} }) // the reading that hangs ends before the scraper waits for it
	var set scrape.Set
	for _, p := range o.Plugins {
		set.Local = append(set.Local, scrape.Local{Job: "telegraf", Instance: p.Name, Gatherer: p, Interval: p.Interval, Timeout: p.Interval})
	}
	if err := scraper.Apply(set); err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"telegraf/test_func:hang": 0, "telegraf/mem": 1, "telegraf/test_func:panic": 0, "telegraf/exec": 0}
	for end := time.Now().Add(30 * time.Second); ; {
		s.mu.Lock()
		got, err := fmt.Sprint(s.ups), s.err
		s.mu.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		if got == fmt.Sprint(want) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("ups %s, want %v", got, want)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestStandardLoggerIsItsOwn: Telegraf's logger took it when it was imported.
func TestStandardLoggerIsItsOwn(t *testing.T) {
	if log.Writer() != os.Stderr || log.Flags() != log.LstdFlags {
		t.Fatalf("the standard logger writes to %T with flags %d", log.Writer(), log.Flags())
	}
}
