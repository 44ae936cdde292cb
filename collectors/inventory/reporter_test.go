package inventory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sextant/internal/config"
	"sextant/pipeline/kafka"
	schema "sextant/schema/inventory"
)

// way2kafka is a way to Kafka that a test opens and shuts. Its rows are what came through.
type way2kafka struct {
	t    *testing.T
	page *Page // the reporter's

	mu   sync.Mutex
	sent []*Document // guarded by mu, as err
	err  error
}

func (w *way2kafka) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
}

func (w *way2kafka) Send(_ context.Context, msgs []kafka.Message) []error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return []error{w.err}
	}
	d, err := schema.Decode(msgs[0].Value)
	if err != nil {
		w.t.Error(err)
	}
	if msgs[0].Topic != "inventory" || string(msgs[0].Key) != d.Node {
		w.t.Errorf("topic %q, key %q", msgs[0].Topic, msgs[0].Key)
	}
	w.sent = append(w.sent, d)
	return []error{nil}
}

// all is what came so far.
func (w *way2kafka) all() []*Document {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.sent)
}

// report runs a reporter of the machine until the test's function returns. The clock is
// the bubble's.
func report(t *testing.T, build func(*machine), change func(*Config), test func(m *machine, w *way2kafka)) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		build(m)
		cfg := m.config()
		cfg.Resend = config.Duration(time.Hour)
		if change != nil {
			change(&cfg)
		}
		w := &way2kafka{t: t}
		w.page = NewPage(cfg.Series.MaxLinks)
		r, err := NewReporter(cfg, w, Options{Page: w.page})
		m.check(err)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		synctest.Wait()
		test(m, w)
		stop()
		m.check(<-done)
	})
}

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestOnlyChangesAreSent(t *testing.T) {
	report(t, virtualNode, nil, func(m *machine, w *way2kafka) {
		if len(w.all()) != 1 {
			t.Fatalf("%d documents at the start, want 1", len(w.all()))
		}
		pass(30 * time.Minute)
		if len(w.all()) != 1 {
			t.Fatalf("%d documents of an unchanged node in half an hour, want 1", len(w.all()))
		}
		m.write("proc/sys/kernel/osrelease", "6.9.0")
		pass(time.Minute)
		if len(w.all()) != 2 || w.all()[1].Host.Kernel != "6.9.0" || w.all()[1].Since <= w.all()[0].Since {
			t.Fatalf("the change did not come: %d documents", len(w.all()))
		}
		pass(2 * time.Hour)
		if n := len(w.all()); n < 3 || n > 5 {
			t.Fatalf("%d documents after two quiet hours, want one an hour", n)
		}
		last := w.all()[len(w.all())-1]
		if last.Hash != w.all()[1].Hash || last.Since != w.all()[1].Since || last.Collected <= w.all()[1].Collected {
			t.Errorf("an unchanged document: since %d, collected %d, the first of it %d, %d", last.Since, last.Collected, w.all()[1].Since, w.all()[1].Collected)
		}
	})
}

// While Kafka is away nothing queues up: what is sent in the end is the newest state.
func TestTheNewestStateIsSentAfterAnOutage(t *testing.T) {
	report(t, virtualNode, nil, func(m *machine, w *way2kafka) {
		w.fail(errors.New("no broker"))
		m.write("proc/sys/kernel/osrelease", "6.9.0")
		pass(5 * time.Minute)
		m.write("proc/sys/kernel/osrelease", "6.10.0")
		pass(5 * time.Minute)
		w.fail(nil)
		pass(time.Minute)
		var kernels []string
		for _, d := range w.all() {
			kernels = append(kernels, d.Host.Kernel)
		}
		if want := []string{"6.8.0-31-generic", "6.10.0"}; !slices.Equal(kernels, want) {
			t.Errorf("%q, want %q", kernels, want)
		}
	})
}

// What Kafka refuses for its size is not sent again before it changes or is due.
func TestTooLargeIsNotRepeated(t *testing.T) {
	report(t, virtualNode, nil, func(m *machine, w *way2kafka) {
		tries := 0
		w.fail(fmt.Errorf("%w: counted", kafka.ErrTooLarge))
		counting := &counted{w, &tries}
		r, err := NewReporter(m.config(), counting, Options{})
		m.check(err)
		for range 10 {
			m.check(r.turn(t.Context()))
		}
		if tries != 1 {
			t.Errorf("%d tries of a document that is too large, want 1", tries)
		}
	})
}

type counted struct {
	Sender
	n *int
}

func (c *counted) Send(ctx context.Context, msgs []kafka.Message) []error {
	*c.n++
	return c.Sender.Send(ctx, msgs)
}

// fleet members that start together do not send together.
func TestResendIsSpread(t *testing.T) {
	seen := map[time.Duration]bool{}
	for i := range 100 {
		r := &Reporter{cfg: Config{Node: fmt.Sprintf("n%d", i), Resend: config.Duration(time.Hour)}}
		d := r.resend()
		if d > time.Hour || d < 54*time.Minute {
			t.Fatalf("%s after %s", r.cfg.Node, d)
		}
		seen[d] = true
	}
	if len(seen) < 80 {
		t.Errorf("100 nodes send at %d times", len(seen))
	}
}

// unsteady is a source that answers, and then fails.
type unsteady struct {
	mu    sync.Mutex
	extra Extra // guarded by mu, as err
	err   error
}

func (u *unsteady) fail(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.extra, u.err = Extra{}, err
}

func (*unsteady) Name() string { return "engine" }
func (u *unsteady) Describe(context.Context) (Extra, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.extra, u.err
}

// An engine that is started again must not make a device change its identity twice.
func TestASourceIsRemembered(t *testing.T) {
	s := &unsteady{extra: Extra{Devices: []DeviceExtra{{PCI: "00000000:05:00.0", UID: "U-1"}}}}
	report(t, amdNode, func(c *Config) { c.Sources = []Source{s} }, func(m *machine, w *way2kafka) {
		s.fail(errors.New("no engine"))
		pass(10 * time.Minute)
		if len(w.all()) != 1 || w.all()[0].Devices[0].ID != "U-1" {
			t.Errorf("%d documents, first device %q", len(w.all()), w.all()[0].Devices[0].ID)
		}
	})
	// One that never answered is a fault of the document.
	m := newMachine(t)
	amdNode(m)
	d := m.read(func(c *Config) { c.Sources = []Source{s} })
	if want := []string{"engine: no engine"}; !slices.Equal(d.Faults, want) || d.Devices[0].ID != "5a9d1f0e2b3c4d50" {
		t.Errorf("faults %q, device %q", d.Faults, d.Devices[0].ID)
	}
}
