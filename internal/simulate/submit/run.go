package submit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"sextant/internal/simulate"
	"sextant/schema/tasks"
)

// Config of Run.
type Config struct {
	// Happenings are what happened since the last call. The first call tells how what runs came
	// there.
	Happenings func() []simulate.Happening
	// Send makes events durable, and returns an error when it did not: they are sent again.
	Send func(context.Context, []tasks.Event) error
	Dir  string // keeps which tasks live, so that a run that was killed leaves none running
	Log  *slog.Logger
}

// Pauses of Run.
const (
	lookEvery = time.Second
	stopping  = 5 * time.Second // in which the last events are sent
)

// Run tells the events of a simulated cluster until ctx ends, and then that its tasks stopped.
func Run(ctx context.Context, cfg Config) error {
	path := filepath.Join(cfg.Dir, "live-tasks.json")
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return fmt.Errorf("simulated tasks: %w", err)
	}
	left, err := readLive(path)
	if err != nil {
		return err
	}
	r := &runner{Config: cfg, path: path, teller: NewTeller(strconv.FormatInt(time.Now().Unix(), 36))}
	r.send(ctx, Stop(left, time.Now().UnixMilli()))
	for ctx.Err() == nil {
		var events []tasks.Event
		for _, h := range cfg.Happenings() {
			events = append(events, r.teller.Events(h)...)
		}
		if len(events) > 0 {
			if err := writeLive(path, r.teller.Live()); err != nil {
				return err
			}
			r.send(ctx, events)
		}
		wait(ctx, lookEvery)
	}
	return r.stop(ctx)
}

type runner struct {
	Config
	path    string
	teller  *Teller
	failing bool
}

// send sends until all is sent, or ctx ends.
func (r *runner) send(ctx context.Context, events []tasks.Event) {
	for len(events) > 0 && ctx.Err() == nil {
		err := r.Send(ctx, events)
		if err == nil {
			r.failing = false
			return
		}
		if !r.failing && ctx.Err() == nil {
			r.Log.Warn("simulated task events are not sent, trying again", "err", err)
		}
		r.failing = true
		wait(ctx, lookEvery)
	}
}

// stop ends the tasks that live. Where that cannot be told, the next run does.
func (r *runner) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopping)
	defer cancel()
	r.send(ctx, Stop(r.teller.Live(), time.Now().UnixMilli()))
	if ctx.Err() != nil {
		return nil
	}
	return writeLive(r.path, nil)
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// readLive reads the tasks that a run before left, by their ids, with the time of their last event.
func readLive(path string) (map[string]tasks.Event, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("simulated tasks: %w", err)
	}
	var times map[string]int64
	if err := json.Unmarshal(b, &times); err != nil {
		return nil, fmt.Errorf("simulated tasks: %s: %w (remove the file to go on)", path, err)
	}
	live := map[string]tasks.Event{}
	for task, at := range times {
		live[task] = tasks.Event{Task: task, Time: at}
	}
	return live, nil
}

// writeLive replaces the file in one step.
func writeLive(path string, live map[string]tasks.Event) error {
	times := map[string]int64{}
	for task, e := range live {
		times[task] = e.Time
	}
	b, err := json.Marshal(times)
	if err == nil {
		err = os.WriteFile(path+".new", b, 0o644)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return fmt.Errorf("simulated tasks: %w", err)
	}
	return nil
}
