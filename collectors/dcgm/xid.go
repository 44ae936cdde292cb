package dcgm

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// xidLog counts XID events by device. The field itself keeps the last code for ever and
// cannot show the same code twice, so events are taken from the engine's history of it.
// The log outlives connections: a count never falls while the agent runs.
type xidLog struct {
	since   time.Time // the engine's history was read up to here
	devices map[string]*xidEvents
}

type xidEvents struct {
	total  uint64
	byCode map[int64]uint64
	last   int64          // unix µs of the newest event
	atLast map[int64]bool // codes of the events at last
}

func newXIDLog(start time.Time) *xidLog {
	return &xidLog{since: start, devices: map[string]*xidEvents{}}
}

// add takes one value of the field's history, oldest first. An event that was already
// taken, a blank and a zero, which some releases write when watching begins, are not
// events.
func (l *xidLog) add(device string, r reading) {
	e := l.of(device)
	if _, ok := r.number(); !ok || r.num == 0 || r.at < e.last || r.at == e.last && e.atLast[r.num] {
		return
	}
	if r.at > e.last {
		e.last, e.atLast = r.at, map[int64]bool{}
	}
	e.atLast[r.num] = true
	e.total++
	e.byCode[r.num]++
}

func (l *xidLog) of(device string) *xidEvents {
	e := l.devices[device]
	if e == nil {
		e = &xidEvents{byCode: map[int64]uint64{}}
		l.devices[device] = e
	}
	return e
}

// write adds a device's series. The total is there from the beginning, at 0, so that the
// first event is an increase.
func (l *xidLog) write(p *page, device string, id labels) {
	e := l.of(device)
	p.add("sextant_dcgm_xid_events_total", "XID events since the agent watches this device.", prometheus.CounterValue, id, float64(e.total))
	for _, code := range slices.Sorted(maps.Keys(e.byCode)) {
		p.add("DCGM_EXP_XID_ERRORS_TOTAL", "XID events since the agent watches this device, by code.", prometheus.CounterValue,
			id.with("xid", strconv.FormatInt(code, 10)), float64(e.byCode[code]))
	}
	if e.last != 0 {
		p.gauge("sextant_dcgm_xid_last_event_timestamp_seconds", "When the newest XID event happened.", id, float64(e.last)/1e6)
	}
}
