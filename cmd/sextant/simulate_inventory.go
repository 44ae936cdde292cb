package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"sextant/internal/simulate"
	"sextant/pipeline/kafka"
	"sextant/schema/inventory"
	"sextant/schema/topics"
)

// fabrics are the links between the accelerators of a simulated node, by vendor.
var fabrics = map[simulate.Vendor]inventory.LinkKind{simulate.NVIDIA: inventory.LinkNVLink, simulate.AMD: inventory.LinkXGMI, simulate.Ascend: inventory.LinkHCCS}

// makers are the vendors as an inventory names them, with the kind of their devices.
var makers = map[simulate.Vendor][2]string{simulate.NVIDIA: {"nvidia", "gpu"}, simulate.AMD: {"amd", "gpu"}, simulate.Intel: {"intel", "gpu"},
	simulate.Ascend: {"huawei", "npu"}, simulate.Gaudi: {"habana", "hpu"}}

// simulatedInventory is the document of a simulated node, as of its boot.
func simulatedInventory(n *simulate.Node) *inventory.Document {
	h := n.Group.Host
	sockets := max(h.Sockets, 1)
	d := &inventory.Document{Node: n.Name, Simulated: true, Host: inventory.Host{Hostname: n.Name, Arch: h.Arch},
		CPU:    inventory.CPU{Model: h.Model, Sockets: sockets, Threads: h.CPUs},
		Memory: inventory.Memory{Total: uint64(h.Memory)}, Place: inventory.Place{Rack: "sim-" + n.Group.Name}}
	for s := range sockets {
		d.NUMA = append(d.NUMA, inventory.NUMANode{ID: s, Memory: uint64(h.Memory) / uint64(sockets)})
	}
	for i := range n.Devices {
		v := &n.Devices[i]
		at := inventory.PCIPlace{PCI: v.PCI, NUMA: i * sockets / len(n.Devices)}
		part := inventory.Part{Kind: inventory.PartNIC, ID: v.PCI}
		if maker, ok := makers[v.Vendor]; ok && v.Compute {
			part = inventory.Part{Kind: inventory.PartDevice, ID: v.UID}
			d.Devices = append(d.Devices, simulatedDevice(v, maker, at))
		} else {
			d.NICs = append(d.NICs, inventory.NIC{ID: v.PCI, Type: "ethernet", Model: v.Label, DPU: v.Label, Speed: v.Link, Up: true, PCIPlace: at})
		}
		d.Links = append(d.Links, inventory.Link{From: part, To: inventory.NUMAPart(at.NUMA), Kind: inventory.LinkLocal, Bandwidth: v.PCIe, Origin: inventory.OriginStated})
		for k := range i {
			o := &n.Devices[k]
			if fabric, ok := fabrics[v.Vendor]; ok && v.Link > 0 && o.Vendor == v.Vendor {
				d.Links = append(d.Links, inventory.Link{From: inventory.Part{Kind: inventory.PartDevice, ID: o.UID}, To: part, Kind: fabric,
					Bandwidth: v.Link, Count: v.Links, Origin: inventory.OriginStated})
			}
		}
	}
	d.Links = append(d.Links, inventory.Link{From: inventory.Part{Kind: inventory.PartNode, ID: n.Name}, To: inventory.Part{Kind: inventory.PartPlace, ID: d.Place.Rack},
		Kind: inventory.LinkRack, Origin: inventory.OriginConfigured})
	return d
}

func simulatedDevice(v *simulate.Device, maker [2]string, at inventory.PCIPlace) inventory.Device {
	d := inventory.Device{ID: v.UID, UID: v.UID, Vendor: maker[0], Kind: maker[1], Model: v.Label, Memory: uint64(v.Model.Memory), PCIPlace: at}
	kind := map[simulate.Vendor]string{simulate.NVIDIA: "mig_gpu", simulate.Ascend: "vnpu"}[v.Vendor]
	if kind == "" {
		d.Partition = strings.Join(v.Layout, " ") // of the whole device
		return d
	}
	for i, profile := range v.Layout {
		d.Slices = append(d.Slices, inventory.Slice{ID: fmt.Sprint(i), Kind: kind, Profile: profile})
	}
	return d
}

// sendInventories keeps the documents of simulated nodes in Kafka: all once an hour, and
// what could not be sent a second later.
func sendInventories(ctx context.Context, docs []*inventory.Document, p *kafka.Producer, log *slog.Logger) error {
	since := time.Now().UnixMilli()
	due := docs
	for {
		var msgs []kafka.Message
		for _, d := range due {
			d.Since, d.Collected = since, time.Now().UnixMilli()
			if err := d.Seal(); err != nil {
				return err
			}
			value, err := d.Encode()
			if err != nil {
				return err
			}
			msgs = append(msgs, kafka.Message{Topic: topics.Inventory, Key: []byte(d.Node), Value: value})
		}
		var failed []*inventory.Document
		for i, err := range p.Send(ctx, msgs) {
			if err != nil {
				failed = append(failed, due[i])
				log.Debug("simulated inventory not sent, trying on", "node", due[i].Node, "err", err)
			}
		}
		wait := time.Second
		if due = failed; len(failed) == 0 {
			due, wait = docs, time.Hour
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}
