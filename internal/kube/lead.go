package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"sextant/internal/config"
	"sextant/pipeline/kafka"
	"sextant/schema/nodes"
	"sextant/schema/topics"
)

// Config of the watcher.
type Config struct {
	Kubeconfig string          `yaml:"kubeconfig"` // empty: the service account of the pod
	Cluster    string          `yaml:"cluster"`    // name of the cluster in every event
	Namespace  string          `yaml:"namespace"`  // of the lease; empty: the pod's own, else default
	Lease      string          `yaml:"lease"`      // its name
	LeaseFor   config.Duration `yaml:"lease_for"`  // how long a leader that died is waited for

	RackLabels      []string `yaml:"rack_labels"`      // of a node: the first that it has names its rack
	NodeAnnotations []string `yaml:"node_annotations"` // of a node that are kept, beside those below sextant/
}

// DefaultConfig returns the defaults.
func DefaultConfig() Config {
	return Config{Cluster: "kubernetes", Lease: "sextant-watch", LeaseFor: config.Duration(15 * time.Second),
		RackLabels: []string{"topology.kubernetes.io/rack"}, NodeAnnotations: []string{}}
}

// Validate returns every fault at once, each with its key.
func (c Config) Validate() error {
	var errs []error
	if c.Cluster == "" || len(c.Cluster) > 253 {
		errs = append(errs, fmt.Errorf("cluster: a name of at most 253 bytes is needed"))
	}
	if c.Lease == "" {
		errs = append(errs, fmt.Errorf("lease: a name is needed"))
	}
	if d := c.LeaseFor.D(); d < 3*time.Second || d > 5*time.Minute {
		errs = append(errs, fmt.Errorf("lease_for: %v is not within 3s and 5m", d))
	}
	if len(c.NodeAnnotations) > nodes.MaxAnnotations {
		errs = append(errs, fmt.Errorf("node_annotations: %d names, the limit is %d", len(c.NodeAnnotations), nodes.MaxAnnotations))
	}
	for key, names := range map[string][]string{"rack_labels": c.RackLabels, "node_annotations": c.NodeAnnotations} {
		if slices.Contains(names, "") {
			errs = append(errs, fmt.Errorf("%s: a name is empty", key))
		}
	}
	return errors.Join(errs...)
}

// Options of Run.
type Options struct {
	Kafka   kafka.Config
	Metrics *Metrics
	Log     *slog.Logger
}

// Run waits for the lease, and watches while it holds it. It returns nil when ctx ends. A
// watcher that lost the lease returns an error: its process ends, and waits again as a
// new one.
func Run(ctx context.Context, cfg Config, opts Options) error {
	klog.SetSlogLogger(opts.Log.With("component", "client-go"))
	c, err := connect(cfg.Kubeconfig)
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("host name: %w", err)
	}
	identity := fmt.Sprintf("%s_%d_%d", host, os.Getpid(), time.Now().UnixNano())
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, cmp.Or(cfg.Namespace, ownNamespace(), "default"), cfg.Lease,
		c.typed.CoreV1(), c.typed.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: identity})
	if err != nil {
		return fmt.Errorf("lease: %w", err)
	}
	l := &leader{ended: make(chan error, 1)}
	elect, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	// Who stops gives the lease away last, when it sends nothing any more.
	defer context.AfterFunc(ctx, func() {
		if !l.leads.Load() {
			stop()
		}
	})()
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, Name: cfg.Lease, ReleaseOnCancel: true,
		LeaseDuration: cfg.LeaseFor.D(), RenewDeadline: cfg.LeaseFor.D() * 2 / 3, RetryPeriod: cfg.LeaseFor.D() / 6,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(lead context.Context) {
				defer stop()
				l.leads.Store(true)
				opts.Metrics.leader.Set(1)
				opts.Log.Info("this watcher leads", "identity", identity)
				lead, end := context.WithCancel(lead)
				defer end()
				defer context.AfterFunc(ctx, end)()
				l.ended <- term(lead, c, cfg, opts)
			},
			OnStoppedLeading: func() { opts.Metrics.leader.Set(0) },
		},
	})
	if err != nil {
		return fmt.Errorf("lease: %w", err)
	}
	opts.Log.Info("waiting for the lease", "lease", cfg.Lease, "identity", identity)
	elector.Run(elect)
	return l.result(ctx)
}

// leader is whether this process has come to lead, and how that ended.
type leader struct {
	leads atomic.Bool
	ended chan error
}

func (l *leader) result(ctx context.Context) error {
	var err error
	if l.leads.Load() {
		err = <-l.ended
	}
	switch {
	case ctx.Err() != nil:
		return nil //nolint:nilerr // the end was asked for
	case err == nil || errors.Is(err, context.Canceled):
		return errors.New("the lease is lost: another watcher leads, or the API server did not answer in time")
	}
	return err
}

// term is what a leader does.
func term(ctx context.Context, c *clients, cfg Config, opts Options) error {
	p, err := kafka.NewProducer(opts.Kafka, kafka.ProducerOptions{Topic: topics.Tasks, Uncompressed: []string{topics.Watched, topics.Nodes}})
	if err != nil {
		return fmt.Errorf("kafka: %w", err)
	}
	defer p.Close()
	w := newWatcher(cfg.Cluster, p, opts)
	if err := w.recall(ctx, opts.Kafka); err != nil {
		return err
	}
	r := newRoll(w, &cfg, c.nodes())
	if err := r.recall(ctx, opts.Kafka); err != nil {
		return err
	}
	return w.run(ctx, c, r)
}

func newWatcher(cluster string, p *kafka.Producer, opts Options) *watcher {
	return &watcher{cluster: cluster, producer: p, metrics: opts.Metrics, log: opts.Log,
		queue: workqueue.NewTyped[key](), known: map[string]*record{}, lost: map[key]bool{}, needed: map[string]map[key]bool{}, waits: map[key][]string{},
		sources: map[string]*source{}, finals: map[key]any{}}
}
