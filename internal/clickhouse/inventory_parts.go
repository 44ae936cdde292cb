package clickhouse

import (
	"math"

	"sextant/pipeline/inventory"
	schema "sextant/schema/inventory"
)

// partRow is an accelerator, network port or disk of one document.
type partRow struct {
	node          string
	since, ingest int64
	part          string
	id, name      string
	kind, model   string
	firmware      string
	bytes, speed  float64
	up            float64 // NaN for what has no link
	place         *schema.PCIPlace
	device        *schema.Device // zero for what is no accelerator
	rdma, dpu     string
}

// linkRow is a link of one document.
type linkRow struct {
	node          string
	since, ingest int64
	*schema.Link
}

func partRows(rows []inventory.Row) []partRow {
	var out []partRow
	for i := range rows {
		d := rows[i].Document
		if d == nil {
			continue
		}
		add := func(p partRow) {
			p.node, p.since, p.ingest = d.Node, d.Since, rows[i].Ingest
			if p.device == nil {
				p.device = &schema.Device{}
			}
			out = append(out, p)
		}
		for k := range d.Devices {
			v := &d.Devices[k]
			add(partRow{part: "accelerator", id: v.ID, kind: v.Kind, model: v.Model, firmware: v.Firmware, bytes: float64(v.Memory), up: math.NaN(), place: &v.PCIPlace, device: v})
		}
		for k := range d.NICs {
			v := &d.NICs[k]
			add(partRow{part: "nic", id: v.ID, name: v.Name, kind: v.Type, model: v.Model, firmware: v.Firmware, speed: v.Speed, up: float64(bit(v.Up)),
				place: &v.PCIPlace, rdma: v.RDMA, dpu: v.DPU})
		}
		for k := range d.Disks {
			v := &d.Disks[k]
			kind := "ssd"
			if v.Rotational {
				kind = "hdd"
			}
			add(partRow{part: "disk", id: v.ID, name: v.Name, kind: kind, model: v.Model, bytes: float64(v.Size), up: math.NaN(), place: &v.PCIPlace})
		}
	}
	return out
}

func linkRows(rows []inventory.Row) []linkRow {
	var out []linkRow
	for i := range rows {
		if d := rows[i].Document; d != nil {
			for k := range d.Links {
				out = append(out, linkRow{d.Node, d.Since, rows[i].Ingest, &d.Links[k]})
			}
		}
	}
	return out
}

func appendParts(w *columnWriter, rows []partRow) {
	text := func(get func(*partRow) string) { w.add(collect(rows, get)) }
	optional := func(get func(*partRow) float64) []float64 {
		return collect(rows, func(r *partRow) float64 { return unknown0(get(r)) })
	}
	link := func(get func(*schema.PCILink) float64) []float64 {
		return optional(func(r *partRow) float64 {
			if r.place.Link == nil {
				return 0
			}
			return get(r.place.Link)
		})
	}
	slices := func(get func(*schema.Slice) string) {
		w.add(collect(rows, func(r *partRow) []string { return collect(r.device.Slices, get) }))
	}
	text(func(r *partRow) string { return r.node })
	w.add(collect(rows, func(r *partRow) int64 { return r.since }))
	text(func(r *partRow) string { return r.part })
	text(func(r *partRow) string { return r.id })
	w.add(collect(rows, func(r *partRow) int64 { return r.ingest }))
	text(func(r *partRow) string { return r.name })
	text(func(r *partRow) string { return r.device.UID })
	text(func(r *partRow) string { return r.device.Vendor })
	text(func(r *partRow) string { return r.kind })
	text(func(r *partRow) string { return r.model })
	text(func(r *partRow) string { return r.device.Generation })
	text(func(r *partRow) string { return r.device.Capability })
	text(func(r *partRow) string { return r.firmware })
	text(func(r *partRow) string { return r.place.Driver })
	text(func(r *partRow) string { return r.place.DriverVersion })
	w.add(pointers(optional(func(r *partRow) float64 { return r.bytes }), to[uint64]))
	w.add(pointers(optional(func(r *partRow) float64 { return r.speed }), to[float64]))
	w.add(pointers(collect(rows, func(r *partRow) float64 { return r.up }), to[uint8]))
	text(func(r *partRow) string { return r.place.PCI })
	text(func(r *partRow) string { return r.place.PCIID })
	w.add(pointers(collect(rows, numaOf), to[int16]))
	w.add(pointers(link(func(l *schema.PCILink) float64 { return l.Speed }), to[float32]))
	w.add(pointers(link(func(l *schema.PCILink) float64 { return float64(l.Width) }), to[uint8]))
	w.add(pointers(link(func(l *schema.PCILink) float64 { return float64(l.MaxWidth) }), to[uint8]))
	w.add(pointers(link(func(l *schema.PCILink) float64 { return l.Bandwidth }), to[float64]))
	text(func(r *partRow) string { return r.rdma })
	text(func(r *partRow) string { return r.dpu })
	text(func(r *partRow) string { return r.device.Partition })
	slices(func(s *schema.Slice) string { return s.ID })
	slices(func(s *schema.Slice) string { return s.Kind })
	slices(func(s *schema.Slice) string { return s.Profile })
	w.add(collect(rows, func(r *partRow) []uint64 {
		return collect(r.device.Slices, func(s *schema.Slice) uint64 { return s.Memory })
	}))
	w.add(collect(rows, func(r *partRow) []float32 {
		return collect(r.device.Slices, func(s *schema.Slice) float32 { return float32(s.Cores) })
	}))
	text(func(r *partRow) string { return r.device.MIG })
	text(func(r *partRow) string { return r.device.Sharing })
	w.add(collect(rows, func(r *partRow) uint16 { return uint16(r.device.Replicas) }))
	w.add(pointers(optional(func(r *partRow) float64 { return r.device.PowerLimit }), to[float32]))
}

func numaOf(r *partRow) float64 {
	if r.place.NUMA < 0 {
		return math.NaN()
	}
	return float64(r.place.NUMA)
}

func appendLinks(w *columnWriter, rows []linkRow) {
	text := func(get func(*linkRow) string) { w.add(collect(rows, get)) }
	optional := func(get func(*linkRow) float64) []float64 {
		return collect(rows, func(r *linkRow) float64 { return unknown0(get(r)) })
	}
	text(func(r *linkRow) string { return r.node })
	w.add(collect(rows, func(r *linkRow) int64 { return r.since }))
	text(func(r *linkRow) string { return string(r.From.Kind) })
	text(func(r *linkRow) string { return r.From.ID })
	text(func(r *linkRow) string { return string(r.To.Kind) })
	text(func(r *linkRow) string { return r.To.ID })
	text(func(r *linkRow) string { return string(r.Kind) })
	w.add(collect(rows, func(r *linkRow) int64 { return r.ingest }))
	w.add(pointers(optional(func(r *linkRow) float64 { return r.Bandwidth }), to[float64]))
	w.add(pointers(optional(func(r *linkRow) float64 { return r.Latency }), to[float64]))
	w.add(pointers(optional(func(r *linkRow) float64 { return float64(r.Distance) }), to[uint16]))
	w.add(collect(rows, func(r *linkRow) uint16 { return uint16(r.Hops) }))
	w.add(collect(rows, func(r *linkRow) uint16 { return uint16(r.Count) }))
	w.add(collect(rows, func(r *linkRow) uint8 { return bit(r.Degraded) }))
	text(func(r *linkRow) string { return string(r.Origin) })
	w.add(collect(rows, func(r *linkRow) []float32 { return r.Vector(nil) }))
}
