package inventory

import (
	"runtime"
	"strings"

	schema "sextant/schema/inventory"
)

// host reads the machine and its system.
func (r *reader) host() {
	h := schema.Host{
		Hostname: r.proc.text("sys/kernel/hostname"),
		Arch:     r.proc.text("sys/kernel/arch"), // since Linux 6.1
		Kernel:   r.proc.text("sys/kernel/osrelease"),
		BootID:   r.proc.text("sys/kernel/random/boot_id"),
		Vendor:   r.sys.text("class/dmi/id/sys_vendor"),
		Product:  r.sys.text("class/dmi/id/product_name"),
		BIOS:     r.sys.text("class/dmi/id/bios_version"),
	}
	if h.Arch == "" {
		h.Arch = machines[runtime.GOARCH]
	}
	if h.Product == "" { // machines without DMI describe themselves so
		h.Product = r.proc.text("device-tree/model")
	}
	for _, file := range []string{"etc/os-release", "usr/lib/os-release"} {
		release, err := r.root.pairs("=", false, file)
		if err != nil {
			continue
		}
		unquote := func(key string) string { return strings.Trim(release[key], `"'`) }
		h.OS, h.OSVersion, h.OSName = unquote("ID"), unquote("VERSION_ID"), unquote("PRETTY_NAME")
		break
	}
	h.Hypervisor = r.hypervisor(h.Vendor)
	r.doc.Host = h
}

// machines are uname's names of what this program runs on.
var machines = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// virtual are makers whose machines are software.
var virtual = map[string]string{"QEMU": "kvm", "VMware, Inc.": "vmware", "Xen": "xen", "innotek GmbH": "virtualbox",
	"Google": "kvm", "OpenStack Foundation": "kvm", "Alibaba Cloud": "kvm", "Huawei Cloud": "kvm"}

// hypervisor is "" where nothing tells of one.
func (r *reader) hypervisor(vendor string) string {
	if kind := r.sys.text("hypervisor/type"); kind != "" {
		return kind
	}
	cpu, err := r.proc.pairs(":", true, "cpuinfo")
	if err == nil && strings.Contains(" "+cpu["flags"]+" ", " hypervisor ") {
		if kind := virtual[vendor]; kind != "" {
			return kind
		}
		if vendor == "Microsoft Corporation" {
			return "hyperv"
		}
		return "yes"
	}
	return virtual[vendor]
}
