package inventory

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	schema "sextant/schema/inventory"
)

// Page is the newest document as series, to be scraped. It is made anew only when the
// content changes: a scrape of an unchanged node hands out what is there.
type Page struct {
	maxLinks int
	ready    chan struct{} // closed when there is a document
	end      chan struct{} // closed when there will be no other

	mu       sync.Mutex
	hash     string                    // guarded by mu
	families []*dto.MetricFamily       // guarded by mu; never changed once it is here
	uids     map[string]schema.SliceAt // guarded by mu: slices by their vendor's uid
}

var _ prometheus.Gatherer = (*Page)(nil)

// NewPage returns a page without a document. At most maxLinks links become series.
func NewPage(maxLinks int) *Page {
	return &Page{maxLinks: maxLinks, ready: make(chan struct{}), end: make(chan struct{})}
}

// End says that no other document comes: nobody waits for one any more. Call it once.
func (p *Page) End() { close(p.end) }

// Set makes a sealed document the page's.
func (p *Page) Set(d *Document) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d.Hash == p.hash {
		return
	}
	if p.hash == "" {
		close(p.ready)
	}
	p.hash, p.families, p.uids = d.Hash, familiesOf(d.Series(p.maxLinks)), d.SliceUIDs()
}

// SliceOf finds a slice by its vendor's uid: the labels device and slice of its readings. A
// page that is nil knows none.
func (p *Page) SliceOf(uid string) (device, slice string, ok bool) {
	if p == nil {
		return "", "", false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.uids[uid]
	return s.Device, s.Slice, ok
}

// firstReading is how long the first scrape waits for the first reading of the node, so
// that its static features need not wait for the second.
const firstReading = 5 * time.Second

// Gather implements prometheus.Gatherer. Without a document there is nothing.
func (p *Page) Gather() ([]*dto.MetricFamily, error) {
	select {
	case <-p.ready:
	default:
		p.wait()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.families, nil
}

func (p *Page) wait() {
	t := time.NewTimer(firstReading)
	defer t.Stop()
	select {
	case <-p.ready:
	case <-p.end:
	case <-t.C:
	}
}

// familiesOf puts series of one family together, in the order of their first.
func familiesOf(all []schema.Series) []*dto.MetricFamily {
	var out []*dto.MetricFamily
	at := map[*schema.Family]*dto.MetricFamily{}
	for i := range all {
		s := &all[i]
		f := at[s.Family]
		if f == nil {
			f = &dto.MetricFamily{Name: &s.Family.Name, Help: &s.Family.Help, Type: dto.MetricType_GAUGE.Enum()}
			at[s.Family] = f
			out = append(out, f)
		}
		m := &dto.Metric{Gauge: &dto.Gauge{Value: &s.Value}}
		for k := range s.Labels {
			m.Label = append(m.Label, &dto.LabelPair{Name: &s.Labels[k].Name, Value: &s.Labels[k].Value})
		}
		f.Metric = append(f.Metric, m)
	}
	return out
}
