package inventory

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	schema "sextant/schema/inventory"
)

// representor is the name of a port that stands for a virtual function or a subfunction.
var representor = regexp.MustCompile(`pf\d+(vf|sf)\d+$|hpf$`)

// port is a NIC with its number on the PCI function.
type port struct {
	schema.NIC
	number int64
}

// nics lists the network ports of hardware. Virtual functions and their representors come
// and go with pods: the function that they belong to says how many there are.
func (r *reader) nics() {
	names, err := r.sys.names("class/net")
	if err != nil {
		r.fault("nics: %s", plain(err))
	}
	var ports []port
	for _, name := range names {
		at := "class/net/" + name
		address := r.addressOf(at + "/device")
		f := r.functions[address]
		if !r.sys.exists(at, "device") || f != nil && f.virtual || representor.MatchString(r.sys.text(at, "phys_port_name")) {
			continue
		}
		ports = append(ports, r.port(name, at, address))
	}
	ports = r.rdma(ports)
	slices.SortFunc(ports, func(a, b port) int { return strings.Compare(a.PCI+a.Name+a.RDMA, b.PCI+b.Name+b.RDMA) })
	seen := map[string]int{}
	for _, p := range ports {
		seen[p.PCI]++
	}
	taken := map[string]bool{}
	for _, p := range ports {
		n := p.NIC
		switch {
		case n.PCI == "" && n.MAC != "":
			n.ID = n.MAC
		case n.PCI == "":
			n.ID = n.Name
		case seen[n.PCI] > 1:
			n.ID = fmt.Sprintf("%s/%d", n.PCI, p.number)
		default:
			n.ID = n.PCI
		}
		if taken[n.ID] {
			n.ID += "/" + n.Name
		}
		taken[n.ID] = true
		r.doc.NICs = append(r.doc.NICs, n)
	}
	r.doc.NICs = cut(r, "nics", r.doc.NICs, schema.MaxNICs)
}

func (r *reader) port(name, at, address string) port {
	n := schema.NIC{Name: name, Type: "ethernet", PCIPlace: r.at(address), MTU: int(r.sys.count(at, "mtu")), VFs: int(r.sys.count(at, "device/sriov_numvfs"))}
	if n.Driver == "" || address == "" || strings.HasPrefix(n.Driver, "virtio") {
		if d := r.sys.resolve(at, "device/driver"); d != "" { // that of virtio_net above virtio-pci
			n.Driver = d[strings.LastIndexByte(d, '/')+1:]
		}
	}
	if r.sys.number(at, "type") == 32 {
		n.Type = "infiniband"
	}
	if r.sys.text(at, "addr_assign_type") != "1" { // a random address is another one after each start
		n.MAC = r.sys.text(at, "address")
	}
	if mbit := r.sys.number(at, "speed"); mbit > 0 && mbit < 1<<31-1 {
		n.Speed = float64(mbit) * 1e6 / 8
	}
	n.Up = r.sys.text(at, "operstate") == "up" || r.sys.text(at, "carrier") == "1"
	r.name(&n)
	return port{n, max(r.sys.number(at, "dev_port"), 0)}
}

// name fills the model, and for the port of a DPU the DPU.
func (r *reader) name(n *schema.NIC) {
	if m := models()[n.PCIID]; m.kind == "nic" {
		n.Model = m.name
		if strings.HasPrefix(m.name, "BlueField") {
			n.DPU = m.name
		}
	}
}

// rdma joins the RDMA devices with their ports, and adds ports without network device.
func (r *reader) rdma(ports []port) []port {
	names, err := r.sys.names("class/infiniband")
	if err != nil {
		r.fault("rdma: %s", plain(err))
	}
	for _, name := range names {
		at := "class/infiniband/" + name
		address := r.addressOf(at + "/device")
		if f := r.functions[address]; address == "" || f != nil && f.virtual {
			continue
		}
		numbers, _ := r.sys.names(at, "ports")
		for _, n := range numbers {
			number, err := strconv.ParseInt(n, 10, 32)
			if err != nil {
				continue
			}
			ports = r.rdmaPort(ports, name, address, number-1, at+"/ports/"+n)
		}
	}
	return ports
}

func (r *reader) rdmaPort(ports []port, name, address string, number int64, at string) []port {
	i := slices.IndexFunc(ports, func(p port) bool { return p.PCI == address && p.number == number })
	if i < 0 {
		p := port{schema.NIC{Type: "ethernet", PCIPlace: r.at(address), Up: strings.HasSuffix(r.sys.text(at, "state"), "ACTIVE")}, number}
		if r.sys.text(at, "link_layer") == "InfiniBand" {
			p.Type = "infiniband"
		}
		r.name(&p.NIC)
		ports, i = append(ports, p), len(ports)
	}
	p := &ports[i]
	p.RDMA, p.Firmware = name, r.sys.text("class/infiniband", name, "fw_ver")
	if gbit, _, ok := strings.Cut(r.sys.text(at, "rate"), " "); ok && p.Speed == 0 && p.Up { // "400 Gb/sec (4X NDR)"
		if v, err := strconv.ParseFloat(gbit, 64); err == nil && v > 0 {
			p.Speed = v * 1e9 / 8
		}
	}
	return ports
}
