package kube

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"sextant/pipeline/kafka"
	"sextant/schema/nodes"
	"sextant/schema/topics"
	"sextant/schema/wire"
)

// resend is how often a node that has not changed is told again, up to a tenth earlier by
// its name, so that a cluster does not come all at once.
const resend = time.Hour

// resendLook is how often the roll looks who is due.
const resendLook = time.Minute

// roll tells what the nodes of the cluster are: each when it changes and once an hour, to
// the compacted topic nodes, and that it was deleted. The topic is its memory: what a
// predecessor told is read from there, so a node that has not changed keeps its history,
// and one that was deleted while nobody watched is told so.
//
// Unlike a task a node has no story: what the informer's index holds is what is told.
type roll struct {
	*watcher
	cfg      *Config
	informer cache.SharedIndexInformer
	told     map[string]toldNode // by name; of the one goroutine that works
	whole    bool                // whether all nodes were read once; likewise
	now      func() time.Time

	mu      sync.Mutex
	changed map[string]bool // names to look at; guarded by mu
	wake    chan struct{}   // holds one when changed has some
}

// toldNode is what was told of a node.
type toldNode struct {
	hash  string
	since int64 // unix ms
	sent  time.Time
}

func newRoll(w *watcher, cfg *Config, of cache.SharedIndexInformer) *roll {
	return &roll{watcher: w, cfg: cfg, informer: of, told: map[string]toldNode{}, now: time.Now, changed: map[string]bool{}, wake: make(chan struct{}, 1)}
}

// recall reads what predecessors told.
func (r *roll) recall(ctx context.Context, cfg kafka.Config) error {
	prefix := r.cluster + "/"
	err := kafka.ReadAll(ctx, cfg, topics.Nodes, func(rec *wire.Record) error {
		name, ours := strings.CutPrefix(string(rec.Key), prefix)
		if !ours {
			return nil
		}
		delete(r.told, name)
		if len(rec.Value) == 0 {
			return nil
		}
		told := toldNode{} // of a document that cannot be read: told, and otherwise
		if d, err := nodes.Decode(rec.Value); err == nil {
			told = toldNode{hash: d.Hash, since: d.Since, sent: time.UnixMilli(d.Collected)}
		}
		r.told[name] = told
		return nil
	})
	if err != nil {
		return fmt.Errorf("recall what was told of nodes: %w", err)
	}
	return nil
}

// run watches until ctx ends or a part fails. An API server that does not let it watch nodes
// is waited for: the tasks are told all the same.
func (r *roll) run(ctx context.Context) error {
	if err := r.informer.SetTransform(trim); err != nil {
		return fmt.Errorf("watch nodes: %w", err)
	}
	if err := r.informer.SetWatchErrorHandlerWithContext(r.refused(ctx, "nodes")); err != nil {
		return fmt.Errorf("watch nodes: %w", err)
	}
	if _, err := r.informer.AddEventHandler(r.handler()); err != nil {
		return fmt.Errorf("watch nodes: %w", err)
	}
	r.metrics.synced.WithLabelValues("nodes").Set(0)
	r.running.Go(func() { r.informer.RunWithContext(ctx) })
	whole := make(chan struct{})
	r.running.Go(func() {
		if cache.WaitForCacheSync(ctx.Done(), r.informer.HasSynced) {
			close(whole)
		}
	})
	tick := time.NewTicker(resendLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-whole:
			whole, r.whole = nil, true
			r.metrics.synced.WithLabelValues("nodes").Set(1)
			r.mark(r.missing()...)
		case <-tick.C:
			r.mark(r.due()...)
		case <-r.wake:
		}
		for names := range slices.Chunk(r.take(), atOnce) {
			if err := r.look(ctx, names); err != nil {
				return err
			}
		}
	}
}

func (r *roll) handler() cache.ResourceEventHandler {
	mark := func(obj any) {
		if lost, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = lost.Obj
		}
		if o, ok := obj.(metav1.Object); ok {
			r.mark(o.GetName())
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: mark, UpdateFunc: func(_, obj any) { mark(obj) }, DeleteFunc: mark}
}

// mark has nodes looked at.
func (r *roll) mark(names ...string) {
	if len(names) == 0 {
		return
	}
	r.mu.Lock()
	for _, name := range names {
		r.changed[name] = true
	}
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default: // it is awake
	}
}

func (r *roll) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := make([]string, 0, len(r.changed))
	for name := range r.changed {
		names = append(names, name)
	}
	clear(r.changed)
	return names
}

// missing are the nodes that a predecessor told of and that are not there.
func (r *roll) missing() (names []string) {
	for name := range r.told {
		if r.find(name) == nil {
			names = append(names, name)
		}
	}
	return names
}

// due are the nodes that were told so long ago that they are told again.
func (r *roll) due() (names []string) {
	for name, t := range r.told {
		if r.isDue(name, t) {
			names = append(names, name)
		}
	}
	return names
}

func (r *roll) isDue(name string, t toldNode) bool {
	h := fnv.New32a()
	h.Write([]byte(name))
	early := time.Duration(h.Sum32()%1000) * resend / 10_000
	return r.now().Sub(t.sent) >= resend-early
}

func (r *roll) find(name string) *corev1.Node {
	obj, ok, err := r.informer.GetStore().GetByKey(name)
	if err != nil || !ok {
		return nil
	}
	n, _ := obj.(*corev1.Node)
	return n
}

// look tells what is new of the named nodes.
func (r *roll) look(ctx context.Context, names []string) error {
	var msgs []kafka.Message
	told := map[string]toldNode{}
	for _, name := range names {
		n := r.find(name)
		before, was := r.told[name]
		if n == nil {
			if was && r.whole { // before that, an absence says nothing
				msgs = append(msgs, kafka.Message{Topic: topics.Nodes, Key: nodes.Key(r.cluster, name)})
				r.metrics.nodes.WithLabelValues("gone").Inc()
				told[name] = toldNode{}
			}
			continue
		}
		value, now, result := r.compare(n, before)
		r.metrics.nodes.WithLabelValues(result).Inc()
		if value != nil {
			msgs = append(msgs, kafka.Message{Topic: topics.Nodes, Key: nodes.Key(r.cluster, name), Value: value})
			told[name] = now
		}
	}
	if err := r.send(ctx, msgs); err != nil {
		return fmt.Errorf("tell of %d nodes: %w", len(msgs), err)
	}
	for name, t := range told {
		if r.told[name] = t; t == (toldNode{}) {
			delete(r.told, name)
		}
	}
	return nil
}

// compare returns the document of a node and what is then told of it, where it is new or due.
func (r *roll) compare(n *corev1.Node, before toldNode) (value []byte, told toldNode, result string) {
	d := seeNode(n, r.cfg)
	now := r.now()
	d.Collected, d.Since = now.UnixMilli(), now.UnixMilli()
	err := d.Seal()
	if err == nil {
		result = "changed"
		if d.Hash == before.hash {
			if !r.isDue(n.Name, before) {
				return nil, toldNode{}, "unchanged"
			}
			result, d.Since = "again", before.since
		} else if d.Since <= before.since { // a clock that was set back
			d.Since = before.since + 1
		}
		d.Collected = max(d.Collected, d.Since)
		value, err = d.Encode()
	}
	if err != nil {
		r.log.Warn("a node makes no document", "node", n.Name, "err", err)
		return nil, toldNode{}, "refused"
	}
	return value, toldNode{hash: d.Hash, since: d.Since, sent: now}, result
}
