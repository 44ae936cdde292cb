// Package kube watches a Kubernetes cluster and tells what happens to its pods, Jobs,
// PodGroups and Workloads as task events, and what its nodes are. It is the one package
// that knows client-go.
//
// What was said of each task stands in the compacted topic tasks.watched, and is written
// there before it is sent. So a watcher that starts, or takes over from one that died,
// says nothing anew, sends again only what may not have been sent, and notices what was
// deleted while nobody watched.
package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"sextant/pipeline/kafka"
	"sextant/schema/tasks"
	"sextant/schema/topics"
	"sextant/schema/wire"
)

// key is a thing to look at: an object, or with no uid all of a resource.
type key struct{ resource, uid string }

// watcher is one term of a leader.
type watcher struct {
	cluster  string
	producer *kafka.Producer
	metrics  *Metrics
	log      *slog.Logger
	queue    workqueue.TypedInterface[key]

	known  map[string]*record      // by uid; of the one goroutine that works
	lost   map[key]bool            // what a predecessor knew and is not there; likewise
	needed map[string]map[key]bool // who waits for an object, by its uid or namespace/name; likewise
	waits  map[key][]string        // the same, by who waits; likewise

	running sync.WaitGroup
	mu      sync.Mutex
	sources map[string]*source // by resource; guarded by mu
	finals  map[key]any        // last known state of what is deleted; guarded by mu
}

// atOnce bounds the tasks of one write.
const atOnce = 500

// recall reads what predecessors said, and sends again what they may not have sent.
func (w *watcher) recall(ctx context.Context, cfg kafka.Config) error {
	prefix, foreign := w.cluster+"/", 0
	var last []kafka.Message
	err := kafka.ReadAll(ctx, cfg, topics.Watched, func(r *wire.Record) error {
		uid, ours := strings.CutPrefix(string(r.Key), prefix)
		if !ours {
			return nil
		}
		delete(w.known, uid)
		if len(r.Value) == 0 {
			return nil
		}
		rec, err := decodeRecord(r.Value)
		if err != nil {
			foreign++  // as if the task had never been seen: its events have the same ids
			return nil //nolint:nilerr // counted and told below
		}
		w.known[uid] = rec
		return nil
	})
	if err != nil {
		return fmt.Errorf("recall what was said: %w", err)
	}
	for uid, rec := range w.known {
		for _, value := range rec.Last {
			last = append(last, kafka.Message{Topic: topics.Tasks, Key: w.key(uid), Value: value})
		}
		rec.Last = nil
	}
	w.log.Info("recalled", "tasks", len(w.known), "unreadable", foreign, "events_sent_again", len(last))
	w.metrics.events.WithLabelValues("again").Add(float64(len(last)))
	return w.send(ctx, last)
}

func (w *watcher) key(uid string) []byte { return []byte(w.cluster + "/" + uid) }

// send sends until Kafka acknowledged all, or ctx ends.
func (w *watcher) send(ctx context.Context, msgs []kafka.Message) error {
	for len(msgs) > 0 {
		batch := msgs[:min(len(msgs), 2*atOnce)]
		msgs = msgs[len(batch):]
		for try := 0; len(batch) > 0; try++ {
			var left []kafka.Message
			var last error
			for i, err := range w.producer.Send(ctx, batch) {
				if errors.Is(err, kafka.ErrTooLarge) {
					return err
				}
				if err != nil {
					left, last = append(left, batch[i]), err
				}
			}
			if batch = left; last == nil {
				break
			}
			if try == 0 {
				w.log.Warn("Kafka did not take all, trying on", "records", len(left), "err", last)
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Second):
			}
		}
	}
	return nil
}

// work looks at what the informers report until ctx ends.
func (w *watcher) work(ctx context.Context) error {
	stop := context.AfterFunc(ctx, w.queue.ShutDown)
	defer stop()
	for {
		keys, down := w.take()
		if down {
			return ctx.Err()
		}
		err := w.look(ctx, keys)
		for _, k := range keys {
			w.queue.Done(k)
		}
		if err != nil {
			return err
		}
	}
}

// take waits for a key and takes what else is there.
func (w *watcher) take() (keys []key, down bool) {
	for len(keys) == 0 || w.queue.Len() > 0 && len(keys) < atOnce {
		k, down := w.queue.Get()
		if down {
			return nil, true
		}
		keys = append(keys, k)
	}
	return keys, false
}

// look compares each object with what was said of it, writes down what is new, and says
// it. The order is what a crash between any two steps is safe with.
func (w *watcher) look(ctx context.Context, keys []key) error {
	var records, events, buried []kafka.Message
	for _, k := range keys {
		if k.uid == "" {
			w.missing(k.resource)
			continue
		}
		rec, said, gone := w.compare(k)
		if len(said) > 0 {
			value, err := encodeRecord(rec, said)
			if err != nil {
				return err
			}
			records = append(records, kafka.Message{Topic: topics.Watched, Key: w.key(k.uid), Value: value})
			for _, e := range said {
				events = append(events, kafka.Message{Topic: topics.Tasks, Key: w.key(k.uid), Value: e})
			}
		}
		if gone {
			delete(w.known, k.uid)
			buried = append(buried, kafka.Message{Topic: topics.Watched, Key: w.key(k.uid)})
		} else if rec != nil {
			w.known[k.uid] = rec
		}
	}
	for _, step := range [][]kafka.Message{records, events, buried} {
		if err := w.send(ctx, step); err != nil {
			return fmt.Errorf("say what happened to %d tasks: %w", len(keys), err)
		}
	}
	w.metrics.tasks.Set(float64(len(w.known)))
	return nil
}

// compare returns the record of a task after a look at its object, the events that are
// new, and whether the object is gone. It returns no record for what is no task.
func (w *watcher) compare(k key) (rec *record, events [][]byte, gone bool) {
	src, obj, final := w.object(k)
	if src != nil && src.see == nil {
		if o, ok := obj.(metav1.Object); ok {
			w.wake(ref{UID: k.uid, Namespace: o.GetNamespace(), Name: o.GetName()})
		}
		return nil, nil, false
	}
	lost := w.lost[k]
	delete(w.lost, k)
	if obj == nil && final == nil && !lost {
		// The informer's index forgets an object before its handler is told how it was at
		// last. Ending the task here would lose that, and tell it anew when it comes.
		return nil, nil, false
	}
	now := time.Now().UnixMilli()
	t := teller{cluster: w.cluster, now: now}
	rec = w.known[k.uid]
	var said []tasks.Event
	if o := either(obj, final); o != nil {
		s := src.see(o, rec == nil)
		w.resolve(k, &s, rec, o)
		rec, said = t.tell(rec, s)
		rec.Owners, rec.Needs = s.facts.Owners, s.needs
	}
	if obj == nil && rec != nil {
		gone = true
		w.forget(k)
		reason := "deleted"
		if final == nil {
			reason = "deleted while nobody watched"
		}
		var end []tasks.Event
		rec, end = t.gone(rec, now, reason)
		said = append(said, end...)
	}
	for i := range said {
		b, err := said[i].Encode(now)
		if err != nil {
			w.metrics.events.WithLabelValues("refused").Inc()
			w.log.Warn("an object makes no event", "resource", k.resource, "name", rec.Ref.Namespace+"/"+rec.Ref.Name, "err", err)
			continue
		}
		w.metrics.events.WithLabelValues(string(said[i].State)).Inc()
		events = append(events, b)
	}
	return rec, events, gone
}

func either(obj, final any) any {
	if obj != nil {
		return obj
	}
	return final
}

// object returns the source of k, the object as it is, or else as it was at last.
func (w *watcher) object(k key) (src *source, obj, final any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	src = w.sources[k.resource]
	if src == nil {
		return nil, nil, nil
	}
	final = w.finals[k]
	delete(w.finals, k)
	if o := src.find(k.uid); o != nil {
		return src, o, nil
	}
	return src, nil, final
}

// missing queues all tasks of the resource that were known, and that a new informer was
// not told of. It knows once: what goes later, the informer tells.
func (w *watcher) missing(resource string) {
	w.mu.Lock()
	var present map[string]bool
	if src := w.sources[resource]; src != nil {
		if src.present == nil || !src.told() {
			w.mu.Unlock()
			return
		}
		present, src.present = src.present, nil
	}
	w.mu.Unlock()
	for uid, rec := range w.known {
		if k := (key{resource, uid}); rec.Ref.Resource == resource && !present[uid] {
			w.lost[k] = true
			w.queue.Add(k)
		}
	}
}

// handle queues what the informer of a source reports.
func (w *watcher) handle(s *source) cache.ResourceEventHandler {
	of := func(obj any) (key, bool) {
		o, ok := obj.(metav1.Object)
		if !ok {
			return key{}, false
		}
		return key{s.resource, string(o.GetUID())}, true
	}
	there := func(obj any) {
		k, ok := of(obj)
		if !ok {
			return
		}
		w.mu.Lock()
		if s.present != nil {
			s.present[k.uid] = true
		}
		w.mu.Unlock()
		w.queue.Add(k)
	}
	deleted := func(obj any) {
		if lost, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = lost.Obj
		}
		if k, ok := of(obj); ok {
			w.mu.Lock()
			w.finals[k] = obj
			w.mu.Unlock()
			w.queue.Add(k)
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: there,
		UpdateFunc: func(old, obj any) {
			k, _ := of(obj)
			if before, was := of(old); was && before != k { // another object under the name
				deleted(old)
			}
			there(obj)
		},
		DeleteFunc: deleted,
	}
}
