package inventory

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	schema "sextant/schema/inventory"
)

var (
	pciAddress = regexp.MustCompile(`^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)
	pciRoot    = regexp.MustCompile(`^pci[0-9a-f]{4,8}:[0-9a-f]{2}$`)
)

// Classes of PCI that accelerators have, both upper bytes.
const (
	classVGA     = 0x0300
	class3D      = 0x0302
	classDisplay = 0x0380
	classAccel   = 0x1200
)

// function is one function of PCI.
type function struct {
	address           string
	root              string   // pci0000:00
	above             []string // addresses of the bridges from the root down
	class             uint32   // three bytes
	vendor, device    uint16
	subsystem         string
	numa              int
	driver            string
	version           string // of the driver
	maxSpeed          float64
	width, maxWidth   int
	link              *schema.PCILink
	virtual, referred bool
}

func (f *function) id() string { return fmt.Sprintf("%04x:%04x", f.vendor, f.device) }

func (f *function) kind() uint32 { return f.class >> 8 }

// onLink says whether the function is the lower end of a link. From the root down, ports
// take turns: a root port, the upper port of a switch, its lower port, and so on; the way
// from the upper port of a switch to a lower one is no link.
func (f *function) onLink() bool { return len(f.above)%2 == 1 }

// pci reads every function.
func (r *reader) pci() {
	r.functions = map[string]*function{}
	names, err := r.sys.names("bus/pci/devices")
	if err != nil {
		r.fault("pci: %s", plain(err))
	}
	for _, address := range names {
		if pciAddress.MatchString(address) {
			r.functions[address] = r.function(address)
		}
	}
	for _, f := range r.functions {
		f.link = r.linkAbove(f)
	}
}

func (r *reader) function(address string) *function {
	at := "bus/pci/devices/" + address
	f := &function{
		address: address, class: uint32(r.sys.hex(at, "class")), vendor: uint16(r.sys.hex(at, "vendor")), device: uint16(r.sys.hex(at, "device")),
		numa: int(max(r.sys.number(at, "numa_node"), -1)), virtual: r.sys.exists(at, "physfn"),
		maxSpeed: speed(r.sys.text(at, "max_link_speed")), width: lanes(r.sys.number(at, "current_link_width")), maxWidth: lanes(r.sys.number(at, "max_link_width")),
	}
	if sub := r.sys.hex(at, "subsystem_vendor"); sub != 0 {
		f.subsystem = fmt.Sprintf("%04x:%04x", sub, r.sys.hex(at, "subsystem_device"))
	}
	if driver := r.sys.resolve(at, "driver"); driver != "" {
		f.driver = driver[strings.LastIndexByte(driver, '/')+1:]
		f.version = r.sys.text("module", strings.ReplaceAll(f.driver, "-", "_"), "version")
	}
	for _, part := range strings.Split(r.sys.resolve(at), "/") {
		switch {
		case pciRoot.MatchString(part) && f.root == "":
			f.root = part
		case pciAddress.MatchString(part) && part != address:
			f.above = append(f.above, part)
		}
	}
	return f
}

// speed reads "16.0 GT/s PCIe"; 0 for "Unknown".
func speed(s string) float64 {
	n, _, _ := strings.Cut(s, " ")
	v, err := strconv.ParseFloat(n, 64)
	if err != nil || schema.Bandwidth(v, 1) == 0 {
		return 0
	}
	return v
}

// lanes is a width that PCIe has, or 0.
func lanes(n int64) int {
	if n < 1 || n > 32 {
		return 0
	}
	return int(n)
}

// linkAbove is the link between f and the port above it, as fast and wide as both can.
func (r *reader) linkAbove(f *function) *schema.PCILink {
	if !f.onLink() || f.maxSpeed == 0 || f.maxWidth == 0 {
		return nil
	}
	l := &schema.PCILink{Speed: f.maxSpeed, Width: f.width, MaxWidth: f.maxWidth}
	if up := r.functions[f.above[len(f.above)-1]]; up != nil && up.maxSpeed > 0 && up.maxWidth > 0 {
		l.Speed, l.MaxWidth = min(l.Speed, up.maxSpeed), min(l.MaxWidth, up.maxWidth)
	}
	if l.Width == 0 || l.Width > l.MaxWidth {
		l.Width = l.MaxWidth
	}
	l.Bandwidth = schema.Bandwidth(l.Speed, l.Width)
	return l
}

// at is where a part with that address sits, and marks the way to it for the tree.
func (r *reader) at(address string) schema.PCIPlace {
	f := r.functions[address]
	if f == nil {
		return schema.PCIPlace{PCI: address, NUMA: -1}
	}
	for _, a := range append([]string{address}, f.above...) {
		if up := r.functions[a]; up != nil {
			up.referred = true
		}
	}
	return schema.PCIPlace{PCI: address, PCIID: f.id(), Subsystem: f.subsystem, NUMA: f.numa, Driver: f.driver, DriverVersion: f.version, Link: f.link}
}

// addressOf is the PCI function below which a device of the kernel sits, by the device's
// folder: the last address on its path.
func (r *reader) addressOf(folder string) string {
	parts := strings.Split(r.sys.resolve(folder), "/")
	for _, p := range slices.Backward(parts) {
		if pciAddress.MatchString(p) {
			return p
		}
	}
	return ""
}

// tree lists the parts that the document names and the bridges above them.
func (r *reader) tree() {
	for _, f := range r.functions {
		if !f.referred {
			continue
		}
		parent := f.root
		if n := len(f.above); n > 0 {
			parent = f.above[n-1]
		}
		r.doc.PCI = append(r.doc.PCI, schema.PCIFunction{Address: f.address, Parent: parent, Class: fmt.Sprintf("%06x", f.class), ID: f.id(),
			NUMA: f.numa, Driver: f.driver, Link: f.link})
	}
	slices.SortFunc(r.doc.PCI, func(a, b schema.PCIFunction) int { return strings.Compare(a.Address, b.Address) })
}
