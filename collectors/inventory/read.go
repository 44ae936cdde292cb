// Package inventory reads what a node is made of (processors, memory, accelerators,
// network, disks, and how they hang together) from the kernel's files and from sources
// that know more, and sends it to Kafka when it changes.
//
// Only what stays the same while the node works is read: a document that changes every
// minute would say nothing by changing. So the speed of a PCIe link is the one that both
// ends can do and not the one of the moment, and virtual functions and virtual network
// devices, which come and go with pods, are counted and not listed.
package inventory

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	schema "sextant/schema/inventory"
)

// Document is the inventory of a node.
type Document = schema.Document

// Read reads the node once and returns its document, sealed. What cannot be read is left
// out and named in the document's Faults; an error means that there is no document.
func Read(ctx context.Context, cfg Config) (*Document, error) {
	if cfg.Node == "" {
		cfg.Node, _ = os.Hostname()
	}
	cfg.SetPaths("/proc", "/sys", "/")
	r := &reader{cfg: cfg, proc: tree(cfg.ProcPath), sys: tree(cfg.SysPath), root: tree(cfg.RootfsPath), doc: &Document{Node: cfg.Node, Simulated: cfg.Simulated}}
	r.host()
	r.cpu()
	r.memory()
	r.numa()
	r.pci()
	r.accelerators()
	r.nics()
	r.disks()
	r.kubernetes()
	r.place()
	if err := r.sources(ctx); err != nil {
		return nil, err
	}
	r.sharing()
	r.identify()
	r.tree()
	r.links()
	return r.finish(time.Now())
}

// reader fills one document.
type reader struct {
	cfg             Config
	proc, sys, root tree
	doc             *Document
	functions       map[string]*function // of PCI, by address
	stated          []LinkExtra          // links that sources told of
}

// fault notes that something could not be read.
func (r *reader) fault(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(r.doc.Faults, text) {
		r.doc.Faults = append(r.doc.Faults, text[:min(len(text), schema.MaxText)])
	}
}

// finish cuts the document to its limits, seals it and checks it.
func (r *reader) finish(now time.Time) (*Document, error) {
	d := r.doc
	d.PCI = cut(r, "pci", d.PCI, schema.MaxPCI)
	d.Links = cut(r, "links", d.Links, schema.MaxLinks)
	d.Collected = now.UnixMilli()
	d.Since = d.Collected
	if err := r.shrink(); err != nil {
		return nil, err
	}
	slices.Sort(d.Faults)
	d.Faults = d.Faults[:min(len(d.Faults), schema.MaxFaults)]
	if err := d.Seal(); err != nil {
		return nil, err
	}
	if err := d.Check(); err != nil {
		return nil, fmt.Errorf("inventory of %s: %w", d.Node, err)
	}
	return d, nil
}

// shrink leaves out what a document can best do without until it is small enough to send:
// the PCI tree, and then links from the end.
func (r *reader) shrink() error {
	d := r.doc
	for {
		b, err := json.Marshal(d)
		if err != nil {
			return fmt.Errorf("inventory of %s: %w", d.Node, err)
		}
		// The hash and the note of what was left out come on top.
		if len(b) <= schema.MaxBytes-2*schema.MaxText {
			return nil
		}
		switch {
		case len(d.PCI) > 0:
			d.PCI = nil
			r.fault("pci: left out of a document of %d bytes", len(b))
		case len(d.Links) > 0:
			keep := len(d.Links) / 2
			r.fault("links: %d are left out of a document of %d bytes", len(d.Links)-keep, len(b))
			d.Links = d.Links[:keep]
		default:
			return fmt.Errorf("inventory of %s: %d bytes, the limit is %d", d.Node, len(b), schema.MaxBytes)
		}
	}
}

// cut keeps what a document may list, and says what it left out.
func cut[T any](r *reader, what string, list []T, limit int) []T {
	if len(list) <= limit {
		return list
	}
	r.fault("%s: %d entries, %d are listed", what, len(list), limit)
	return list[:limit]
}

// place is where the configuration, and else Kubernetes, says that the node stands.
func (r *reader) place() {
	c := r.cfg
	p := schema.Place{Region: c.Region, Zone: c.Zone, Rack: c.Rack, Switch: c.Switch}
	if k := r.doc.Kubernetes; k != nil {
		for _, l := range []struct {
			to  *string
			key string
		}{{&p.Region, c.PlaceLabels.Region}, {&p.Zone, c.PlaceLabels.Zone}, {&p.Rack, c.PlaceLabels.Rack}, {&p.Switch, c.PlaceLabels.Switch}} {
			if *l.to == "" && l.key != "" {
				*l.to = k.Labels[l.key]
			}
		}
	}
	r.doc.Place = p
	if len(c.Labels) > 0 {
		r.doc.Labels = c.Labels
	}
}

// identify gives each device its id: the vendor's, unless it is blank or shared by two.
func (r *reader) identify() {
	seen := map[string]int{}
	for i := range r.doc.Devices {
		seen[r.doc.Devices[i].UID]++
	}
	for i := range r.doc.Devices {
		v := &r.doc.Devices[i]
		if strings.Trim(v.UID, "0-xX") == "" || seen[v.UID] > 1 {
			if v.UID != "" {
				r.fault("device %s: uid %q is blank or not its own", v.PCI, v.UID)
			}
			v.UID = ""
		}
		if v.ID = v.UID; v.ID == "" {
			v.ID = v.PCI
		}
	}
}
