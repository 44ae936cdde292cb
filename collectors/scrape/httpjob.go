package scrape

import (
	"fmt"
	"net/http"
	"reflect"
	"time"

	promcommon "github.com/prometheus/common/config"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/model/labels"

	"sextant/collectors/promconfig"
)

// httpJob makes targets from what service discovery finds, for one configuration.
type httpJob struct {
	owner      *Scraper
	cfg        *promconfig.ScrapeConfig
	external   labels.Labels
	client     *http.Client
	generation int // counts configurations: targets of another one are started anew
}

func newHTTPJob(owner *Scraper, cfg *promconfig.ScrapeConfig, external labels.Labels) (*httpJob, error) {
	client, err := promcommon.NewClientFromConfig(cfg.HTTPClientConfig, cfg.JobName)
	if err != nil {
		return nil, fmt.Errorf("HTTP client: %w", err)
	}
	return &httpJob{owner: owner, cfg: cfg, external: external, client: client}, nil
}

// sameBut says whether another configuration differs at most in its targets.
func (h *httpJob) sameBut(cfg *promconfig.ScrapeConfig, external labels.Labels) bool {
	a, b := *h.cfg, *cfg
	a.ServiceDiscoveryConfigs, b.ServiceDiscoveryConfigs = nil, nil
	return reflect.DeepEqual(a, b) && labels.Equal(h.external, external)
}

// configure applies a new configuration: targets follow it at once, discovery starts over
// only if its own part changed.
func (j *job) configure(cfg *promconfig.ScrapeConfig, external labels.Labels) error {
	j.mu.Lock()
	old := j.http
	j.mu.Unlock()
	if old != nil && old.sameBut(cfg, external) {
		return j.found.run(j, cfg, false)
	}
	h, err := newHTTPJob(j.owner, cfg, external)
	if err != nil {
		return err
	}
	if old != nil {
		h.generation = old.generation + 1
	}
	j.mu.Lock()
	j.http = h
	j.mu.Unlock()
	if err := j.found.run(j, cfg, true); err != nil {
		return err
	}
	if old != nil {
		old.client.CloseIdleConnections()
	}
	return nil
}

// apply makes the targets of the given groups run.
func (j *job) apply(groups []*targetgroup.Group) {
	j.mu.Lock()
	h := j.http
	j.mu.Unlock()
	want, faults := h.targets(groups)
	for _, err := range faults {
		j.log.Warn("discovered target rejected", "err", err)
	}
	j.owner.metrics.rejected.WithLabelValues(j.name).Set(float64(len(faults)))
	j.sync(want, true)
}

// targets applies target relabelling to the groups. Over target_limit, all of the job's
// targets fail, as in Prometheus.
func (h *httpJob) targets(groups []*targetgroup.Group) ([]wanted, []error) {
	var want []wanted
	var faults []error
	b := labels.NewBuilder(labels.EmptyLabels())
	for _, g := range groups {
		ts, errs := promconfig.TargetsFromGroup(g, h.cfg, nil, b)
		faults = append(faults, errs...)
		for _, t := range ts {
			public := t.Labels(b)
			if public.IsEmpty() {
				continue // dropped by relabelling
			}
			w, err := h.wanted(t, public)
			if err != nil {
				faults = append(faults, err)
				continue
			}
			want = append(want, w)
		}
	}
	if limit := int(h.cfg.TargetLimit); limit > 0 && len(want) > limit {
		over := fmt.Errorf("%w: %d targets, limit %d", errTargetLimit, len(want), limit)
		for i := range want {
			want[i].same += over.Error()
			want[i].open = func() (source, error) { return forced{over}, nil }
		}
	}
	return want, faults
}

func (h *httpJob) wanted(t *promconfig.Target, public labels.Labels) (wanted, error) {
	interval, timeout, err := timing(t)
	if err != nil {
		return wanted{}, err
	}
	url := t.URL()
	cfg := targetConfig{
		job: public.Get(model.JobLabel), url: PublicURL(url), interval: interval, timeout: timeout,
		limit: int(h.cfg.SampleLimit), extra: h.cfg.ExtraScrapeMetricsEnabled(),
		honorTime: h.cfg.HonorTimestamps, trackTime: h.cfg.TrackTimestampsStaleness,
		rules: labelRules{
			target: public, external: h.external, honor: h.cfg.HonorLabels, relabel: h.cfg.MetricRelabelConfigs,
			limits: labelLimits{count: int(h.cfg.LabelLimit), name: int(h.cfg.LabelNameLengthLimit), value: int(h.cfg.LabelValueLengthLimit)},
		},
	}
	address := url.String()
	return wanted{
		key: public.String() + " " + address, config: cfg,
		same: fmt.Sprint(interval, timeout, h.generation),
		open: func() (source, error) {
			f, err := newFetcher(h.client, address, h.cfg, timeout)
			if err != nil {
				return nil, err
			}
			f.inflate = &h.owner.inflate
			return &exporter{fetcher: f, bodies: &h.owner.bodies}, nil
		},
	}, nil
}

// timing reads the interval and timeout, which relabelling may have changed for a target.
func timing(t *promconfig.Target) (interval, timeout time.Duration, err error) {
	i, err := model.ParseDuration(t.GetValue(model.ScrapeIntervalLabel))
	if err != nil {
		return 0, 0, fmt.Errorf("target %s: scrape interval: %w", t, err)
	}
	o, err := model.ParseDuration(t.GetValue(model.ScrapeTimeoutLabel))
	if err != nil {
		return 0, 0, fmt.Errorf("target %s: scrape timeout: %w", t, err)
	}
	if time.Duration(i) < minInterval {
		return 0, 0, fmt.Errorf("target %s: scrape interval %s is below %s", t, i, minInterval)
	}
	return time.Duration(i), time.Duration(o), nil
}

const minInterval = 100 * time.Millisecond
