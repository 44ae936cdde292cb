package inventory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// machine is a copy of the kernel's files that a test builds.
type machine struct {
	t   testing.TB
	dir string
}

func newMachine(t testing.TB) *machine {
	m := &machine{t, t.TempDir()}
	for _, d := range []string{"proc", "sys", "root"} {
		m.check(os.MkdirAll(filepath.Join(m.dir, d), 0o755))
	}
	return m
}

func (m *machine) check(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// config reads the machine.
func (m *machine) config() Config {
	c := Defaults()
	c.Node = "n1"
	c.ProcPath, c.SysPath, c.RootfsPath = filepath.Join(m.dir, "proc"), filepath.Join(m.dir, "sys"), filepath.Join(m.dir, "root")
	return c
}

// write makes files: pairs of a path and a content, to which the kernel's newline is
// added.
func (m *machine) write(pairs ...string) {
	m.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		path := filepath.Join(m.dir, pairs[i])
		m.check(os.MkdirAll(filepath.Dir(path), 0o755))
		m.check(os.WriteFile(path, []byte(pairs[i+1]+"\n"), 0o644))
	}
}

// link makes a symbolic link as sysfs has them: relative.
func (m *machine) link(path, target string) {
	m.t.Helper()
	at := filepath.Join(m.dir, path)
	m.check(os.MkdirAll(filepath.Dir(at), 0o755))
	rel, err := filepath.Rel(filepath.Dir(at), filepath.Join(m.dir, target))
	m.check(err)
	m.check(os.Symlink(rel, at))
}

// pciSpec is a function of PCI. Zero speed means that there is no such file, as in a
// virtual machine.
type pciSpec struct {
	path                 string // below sys/devices, the addresses of the bridges and its own
	class, vendor, model string // hexadecimal, without 0x
	sub                  string // subsystem, vendor:device
	numa                 int
	speed, now           string // GT/s that it can do, and does now
	width, max           int    // lanes now and at most
	driver               string
}

// pci makes a function and returns its folder below sys.
func (m *machine) pci(p pciSpec) string {
	m.t.Helper()
	at := "sys/devices/" + p.path
	address := filepath.Base(p.path)
	m.write(at+"/class", "0x"+p.class, at+"/vendor", "0x"+p.vendor, at+"/device", "0x"+p.model, at+"/numa_node", fmt.Sprint(p.numa))
	if v, d, ok := strings.Cut(p.sub, ":"); ok {
		m.write(at+"/subsystem_vendor", "0x"+v, at+"/subsystem_device", "0x"+d)
	}
	if p.speed != "" {
		now := p.now
		if now == "" {
			now = p.speed
		}
		m.write(at+"/max_link_speed", p.speed+" GT/s PCIe", at+"/current_link_speed", now+" GT/s PCIe",
			at+"/max_link_width", fmt.Sprint(p.max), at+"/current_link_width", fmt.Sprint(p.width))
	}
	if p.driver != "" {
		m.check(os.MkdirAll(filepath.Join(m.dir, "sys/bus/pci/drivers", p.driver), 0o755))
		m.link(at+"/driver", "sys/bus/pci/drivers/"+p.driver)
	}
	m.link("sys/bus/pci/devices/"+address, at)
	return at
}

// cpus makes CPUs: sockets × cores × 2 threads, a NUMA node for each socket.
func (m *machine) cpus(sockets, cores int, cpuinfo string) {
	m.t.Helper()
	m.write("proc/cpuinfo", cpuinfo)
	all := sockets * cores
	for i := range 2 * all {
		core := i % all
		at := fmt.Sprintf("sys/devices/system/cpu/cpu%d", i)
		m.write(at+"/topology/physical_package_id", fmt.Sprint(core/cores), at+"/topology/core_cpus_list", fmt.Sprintf("%d,%d", core, core+all),
			at+"/cpufreq/cpuinfo_max_freq", "3800000")
	}
	m.write("sys/devices/system/cpu/isolated", "")
}

// numa makes a NUMA node.
func (m *machine) numa(id int, cpus, distance string, kilobytes int) {
	at := fmt.Sprintf("sys/devices/system/node/node%d", id)
	m.write(at+"/cpulist", cpus, at+"/distance", distance, at+"/meminfo", fmt.Sprintf("Node %d MemTotal:       %d kB\nNode %d MemFree:        1 kB", id, kilobytes, id))
}

// system makes what every machine has.
func (m *machine) system(kernel, arch, vendor, product string, kilobytes int) {
	m.write("proc/sys/kernel/hostname", "host-1", "proc/sys/kernel/osrelease", kernel, "proc/sys/kernel/arch", arch,
		"proc/sys/kernel/random/boot_id", "3f1b8f2e-6a52-4bb6-8f57-2f0d6a1c9b11",
		"proc/meminfo", fmt.Sprintf("MemTotal:       %d kB\nMemFree:        5 kB\nSwapTotal:      0 kB", kilobytes),
		"root/etc/os-release", "NAME=\"Ubuntu\"\nID=ubuntu\nVERSION_ID=\"22.04\"\nPRETTY_NAME=\"Ubuntu 22.04.4 LTS\"")
	if vendor != "" {
		m.write("sys/class/dmi/id/sys_vendor", vendor, "sys/class/dmi/id/product_name", product, "sys/class/dmi/id/bios_version", "2.1")
	}
}

// net makes a network device on a PCI function's folder.
func (m *machine) net(folder, name, mac, speed string, up bool) string {
	at := folder + "/net/" + name
	carrier, state := "0", "down"
	if up {
		carrier, state = "1", "up"
	}
	m.write(at+"/address", mac, at+"/speed", speed, at+"/mtu", "9000", at+"/type", "1", at+"/operstate", state, at+"/carrier", carrier,
		at+"/dev_port", "0", at+"/addr_assign_type", "0")
	m.link(at+"/device", folder)
	m.link("sys/class/net/"+name, at)
	return at
}

// rdma makes an RDMA device on a PCI function's folder.
func (m *machine) rdma(folder, name, rate, layer string) {
	at := folder + "/infiniband/" + name
	m.write(at+"/fw_ver", "28.39.1002", at+"/ports/1/rate", rate, at+"/ports/1/link_layer", layer, at+"/ports/1/state", "4: ACTIVE")
	m.link(at+"/device", folder)
	m.link("sys/class/infiniband/"+name, at)
}

// disk makes a block device below a folder of a PCI function.
func (m *machine) disk(folder, name, model, wwid string, sectors uint64) {
	at := folder + "/nvme/nvme0/" + name
	m.write(at+"/size", fmt.Sprint(sectors), at+"/wwid", wwid, at+"/queue/rotational", "0", folder+"/nvme/nvme0/model", model)
	m.link(at+"/device", folder+"/nvme/nvme0")
	m.link("sys/block/"+name, at)
}
