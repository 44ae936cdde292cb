//go:build cgo && linux

package dcgm

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/NVIDIA/go-dcgm/pkg/dcgm"
)

// session is one connection to an engine, with what is watched through it.
type session struct {
	cfg     Config
	period  time.Duration
	version string
	xid     *xidLog

	inv     *inventory
	watches *watches
	scanned time.Time // when inv was read
	health  []sample  // of the last health check
	slow    map[string]error

	newest   int64     // latest time of any fast value, by the engine's clock, µs
	advanced time.Time // when newest last grew, by ours
}

// read gives one page. An error means that the connection is of no more use, or that the
// engine has nothing to show.
func (s *session) read(now time.Time) (*page, error) {
	if _, err := dcgm.GetSupportedDevices(); err != nil {
		return nil, fmt.Errorf("%w: %w", errLost, err)
	}
	if err := s.scan(now); err != nil {
		return nil, err
	}
	p := &page{}
	for what, err := range s.slow {
		p.note(what, err)
	}
	s.watches.notes(p)
	p.gauge("sextant_dcgm_engine_info", "The host engine.", labels{}.with("version", s.version, "address", s.cfg.Address), 1)
	p.samples = append(p.samples, s.inv.info...)
	p.samples = append(p.samples, s.health...)
	if err := s.readFields(p, now); err != nil {
		return nil, err
	}
	s.readXID(p)
	s.readStates(p)
	return p, nil
}

// scan looks once a minute, and when the MIG layout changed, at which entities there are.
// The watches are made anew when entities or their identity changed; otherwise what could
// not be watched is tried again.
func (s *session) scan(now time.Time) error {
	if s.inv != nil && now.Sub(s.scanned) < rescanEvery && s.inv.migUnchanged() {
		return nil
	}
	inv, err := takeInventory(s.cfg)
	if err != nil {
		return err
	}
	if s.watches == nil || !inv.sameEntities(s.inv) {
		s.unwatch()
		s.watches = watch(inv, s.cfg, s.period)
		s.newest, s.advanced = 0, now
	} else {
		s.watches.retry()
	}
	s.inv, s.scanned, s.slow = inv, now, inv.faults
	s.checkHealth()
	return nil
}

func (s *session) unwatch() {
	if s.watches != nil {
		s.watches.remove()
		s.watches = nil
	}
}

// drop ends the connection. What was watched through it ends with it.
func (s *session) drop() error {
	err := dcgm.Shutdown()
	defer release()
	if err != nil {
		stopLibrary()
		return fmt.Errorf("disconnect from the host engine: %w", err)
	}
	return nil
}

// readXID takes what the engine's history of XIDs has got since the last reading.
func (s *session) readXID(p *page) {
	byID := map[uint]string{}
	for _, g := range s.inv.gpus {
		byID[g.id] = g.key()
	}
	if s.watches.events.ok {
		values, next, err := dcgm.GetValuesSince(s.watches.events.group, s.watches.events.fields, s.xid.since)
		if err != nil {
			p.note("XID events", err)
		} else if next.After(s.xid.since) {
			s.xid.since = next
		}
		for i := range values {
			if v := &values[i]; v.EntityGroupId == dcgm.FE_GPU && byID[v.EntityID] != "" {
				s.xid.add(byID[v.EntityID], decode(v.FieldID, v.FieldType, v.Status, v.TS, &v.Value))
			}
		}
	}
	for _, g := range s.inv.gpus {
		s.xid.write(p, g.key(), g.labels)
	}
}

// readStates gives whether the engine can reach each device and each NVLink.
func (s *session) readStates(p *page) {
	gpus := map[uint]gpu{}
	for _, g := range s.inv.gpus {
		gpus[g.id] = g
		p.gauge("sextant_dcgm_gpu_status", "What the engine thinks of the device: 1 ok, 2 unsupported, 3 inaccessible, 4 lost, 5 fake, 6 disabled, 7 detached.",
			g.labels, float64(dcgm.GetGPUStatus(g.id)))
	}
	links, err := dcgm.GetNvLinkLinkStatus()
	if err != nil {
		p.note("NVLink states", err)
	}
	for _, l := range links {
		if l.State == dcgm.LS_NOT_SUPPORTED {
			continue
		}
		id := labels{}.with("nvlink", strconv.Itoa(int(l.Index)))
		if l.ParentType == dcgm.FE_SWITCH {
			id = id.with("nvswitch", switchName(l.ParentId))
		} else if g, ok := gpus[l.ParentId]; ok {
			id = g.linkLabels(l.Index)
		}
		p.gauge("sextant_dcgm_nvlink_state", "State of an NVLink: 1 disabled, 2 down, 3 up.", id, float64(l.State))
	}
}

// checkHealth runs the engine's passive checks. The first check of a connection only
// takes a baseline and finds nothing.
func (s *session) checkHealth() {
	s.health = nil
	if !s.cfg.Health || !s.watches.health.ok {
		return
	}
	r, err := dcgm.HealthCheck(s.watches.health.group)
	if err != nil {
		s.slow["health checks"] = err
		return
	}
	worst := map[healthKey]incident{}
	for _, i := range r.Incidents {
		k := healthKey{i.EntityInfo.EntityId, i.System}
		if i.EntityInfo.EntityGroupId == dcgm.FE_GPU && i.Health > worst[k].result {
			worst[k] = incident{i.Health, i.Error.Code}
		}
	}
	p := page{}
	p.gauge("sextant_dcgm_health", "The worst of all health checks of this host: 0 pass, 10 warning, 20 failure.", labels{}, float64(r.OverallHealth))
	for _, g := range s.inv.gpus {
		for _, w := range healthWatches {
			i := worst[healthKey{g.id, w.system}]
			p.gauge("DCGM_EXP_GPU_HEALTH_STATUS", "Result of a health check of a device: 0 pass, 10 warning, 20 failure.",
				g.labels.with("health_watch", w.name, "health_error_code", strconv.Itoa(int(i.code))), float64(i.result))
		}
	}
	s.health = p.samples
}

type healthKey struct {
	gpu    uint
	system dcgm.HealthSystem
}

type incident struct {
	result dcgm.HealthResult
	code   dcgm.HealthCheckErrorCode
}

// healthWatches are the checks of a GPU, under the names that dcgm-exporter gives them.
var healthWatches = []struct {
	system dcgm.HealthSystem
	name   string
}{{dcgm.DCGM_HEALTH_WATCH_PCIE, "PCIE"}, {dcgm.DCGM_HEALTH_WATCH_NVLINK, "NVLINK"}, {dcgm.DCGM_HEALTH_WATCH_PMU, "PMU"},
	{dcgm.DCGM_HEALTH_WATCH_MCU, "MCU"}, {dcgm.DCGM_HEALTH_WATCH_MEM, "MEM"}, {dcgm.DCGM_HEALTH_WATCH_SM, "SM"},
	{dcgm.DCGM_HEALTH_WATCH_INFOROM, "INFOROM"}, {dcgm.DCGM_HEALTH_WATCH_THERMAL, "THERMAL"},
	{dcgm.DCGM_HEALTH_WATCH_POWER, "POWER"}, {dcgm.DCGM_HEALTH_WATCH_DRIVER, "DRIVER"}}

// errNoDevices: an engine that serves no device is a fault of its host, not health.
var errNoDevices = errors.New("the host engine answers but has no GPU, NVSwitch or CPU")
