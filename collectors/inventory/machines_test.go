package inventory

import (
	"fmt"
	"strings"
)

const xeon = `processor	: 0
vendor_id	: GenuineIntel
cpu family	: 6
model		: 143
model name	: Intel(R) Xeon(R) Platinum 8480C
stepping	: 8
microcode	: 0x2b0004b1
flags		: fpu vme sse2 avx2 avx512f avx512_bf16 avx512_vnni amx_bf16 amx_tile amx_int8

processor	: 1
model name	: never read`

// gpuNode is a server of two sockets with eight GPUs on PCIe and no NVSwitch: on each
// socket two switches, each with two GPUs and a port of 400 Gb/s. One GPU idles, so that
// its link runs at 2.5 GT/s at the moment; one has lost half its lanes.
func gpuNode(m *machine) {
	m.system("5.15.0-105-generic", "x86_64", "Supermicro", "SYS-421GE-TNRT", 1056301568)
	m.cpus(2, 4, xeon)
	m.numa(0, "0-3,8-11", "10 21", 528150784)
	m.numa(1, "4-7,12-15", "21 10", 528150784)
	m.write("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "0", "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "16",
		"sys/devices/system/node/node0/hugepages/hugepages-1048576kB/nr_hugepages", "8",
		"sys/devices/system/node/node0/access0/initiators/read_latency", "110", "sys/devices/system/node/node0/access0/initiators/read_bandwidth", "204800",
		"sys/module/mlx5_core/version", "5.8-4",
		"proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\nGCC version: 12")
	gpu := 0
	for sw, bus := range []string{"10", "20", "80", "90"} {
		socket := sw / 2
		base := fmt.Sprintf("pci0000:%s/0000:%s:01.0", bus, bus)
		n := hexByte(bus)
		m.pci(pciSpec{path: base, class: "060400", vendor: "8086", model: "352a", numa: socket, speed: "32.0", width: 16, max: 16, driver: "pcieport"})
		up := fmt.Sprintf("%s/0000:%02x:00.0", base, n+1)
		m.pci(pciSpec{path: up, class: "060400", vendor: "1000", model: "c030", numa: socket, speed: "32.0", width: 16, max: 16, driver: "pcieport"})
		for slot := range 3 {
			down := fmt.Sprintf("%s/0000:%02x:0%d.0", up, n+2, slot)
			m.pci(pciSpec{path: down, class: "060400", vendor: "1000", model: "c030", numa: socket, speed: "32.0", width: 16, max: 16, driver: "pcieport"})
			leaf := fmt.Sprintf("%s/0000:%02x:00.0", down, n+3+slot)
			if slot == 2 {
				nic := m.pci(pciSpec{path: leaf, class: "020000", vendor: "15b3", model: "1021", sub: "15b3:0040", numa: socket, speed: "32.0", width: 16, max: 16, driver: "mlx5_core"})
				m.net(nic, fmt.Sprintf("ens%df0np0", sw+1), fmt.Sprintf("94:6d:ae:00:00:%02x", sw), "400000", true)
				m.rdma(nic, fmt.Sprintf("mlx5_%d", sw), "400 Gb/sec (4X NDR)", "Ethernet")
				continue
			}
			spec := pciSpec{path: leaf, class: "030200", vendor: "10de", model: "26b9", sub: "10de:1851", numa: socket, speed: "16.0", width: 16, max: 16, driver: "nvidia"}
			switch gpu {
			case 1:
				spec.now = "2.5"
			case 5:
				spec.width = 8
			}
			m.pci(spec)
			address := leaf[strings.LastIndexByte(leaf, '/')+1:]
			m.write("proc/driver/nvidia/gpus/"+address+"/information", fmt.Sprintf("Model: \t\t NVIDIA L40S\nIRQ:   \t\t 201\nGPU UUID: \t GPU-5a1c0f00-0000-4000-8000-00000000000%d\n"+
				"Video BIOS: \t 95.02.66.00.02\nBus Location: \t %s\nDevice Minor: \t %d", gpu, address, gpu))
			gpu++
		}
	}
	audio := "pci0000:10/0000:10:01.0/0000:11:00.0/0000:12:00.0/0000:13:00.1"
	m.pci(pciSpec{path: audio, class: "040300", vendor: "10de", model: "22ba", numa: 0})
	bmc := m.pci(pciSpec{path: "pci0000:00/0000:00:1c.0/0000:01:00.0", class: "030000", vendor: "1a03", model: "2000", numa: 0, driver: "ast"})
	_ = bmc
	nvme := m.pci(pciSpec{path: "pci0000:00/0000:00:1d.0/0000:02:00.0", class: "010802", vendor: "144d", model: "a80a", numa: 0, speed: "16.0", width: 4, max: 4, driver: "nvme"})
	m.pci(pciSpec{path: "pci0000:00/0000:00:1d.0", class: "060400", vendor: "8086", model: "1bbe", numa: 0, speed: "16.0", width: 4, max: 4})
	m.disk(nvme, "nvme0n1", "SAMSUNG MZQL23T8HCLS-00A07", "eui.36344830526001480025384500000001", 7501476528)
	// A virtual function in the host's namespace, a bridge and a loop device: no hardware.
	vf := m.pci(pciSpec{path: "pci0000:10/0000:10:01.0/0000:11:00.0/0000:12:02.0/0000:15:00.1", class: "020000", vendor: "15b3", model: "101e", numa: 0, driver: "mlx5_core"})
	m.link(vf+"/physfn", "sys/devices/pci0000:10/0000:10:01.0/0000:11:00.0/0000:12:02.0/0000:15:00.0")
	m.net(vf, "ens1f0v0", "02:00:00:00:00:01", "400000", true)
	m.write("sys/devices/pci0000:10/0000:10:01.0/0000:11:00.0/0000:12:02.0/0000:15:00.0/sriov_numvfs", "1")
	m.write("sys/devices/virtual/net/cni0/address", "02:00:00:00:00:02", "sys/devices/virtual/block/loop0/size", "2048")
	m.link("sys/class/net/cni0", "sys/devices/virtual/net/cni0")
	m.link("sys/block/loop0", "sys/devices/virtual/block/loop0")
}

// hexByte reads two hexadecimal digits.
func hexByte(s string) (n int) {
	fmt.Sscanf(s, "%x", &n)
	return n
}

// ascendNode is a Kunpeng server with eight Ascend 910B, whose HCCS links only a file
// tells, and a BlueField-3.
func ascendNode(m *machine) {
	m.system("5.10.0-136.12.0.86.aarch64", "aarch64", "Huawei", "Atlas 800T A2", 1583865856)
	m.cpus(4, 2, "processor\t: 0\nBogoMIPS\t: 200.00\nFeatures\t: fp asimd asimddp sve bf16\nCPU implementer\t: 0x48\nCPU architecture: 8\nCPU part\t: 0xd01\nCPU revision\t: 0")
	for n := range 4 {
		m.numa(n, fmt.Sprintf("%d-%d", 2*n, 2*n+1), []string{"10 12 20 22", "12 10 22 24", "20 22 10 12", "22 24 12 10"}[n], 395966464)
	}
	m.write("root/usr/local/Ascend/driver/version.info", "Version=24.1.rc2\nascendhal_version=7.35.19\naicpu_version=1.0")
	for i := range 8 {
		host := 0xc0 - 16*(i/2)
		bus := host + 1 + i%2
		root := fmt.Sprintf("pci0000:%02x/0000:%02x:%02x.0", host, host, i%2)
		m.pci(pciSpec{path: root, class: "060400", vendor: "19e5", model: "a120", numa: i / 2, speed: "16.0", width: 16, max: 16, driver: "pcieport"})
		m.pci(pciSpec{path: fmt.Sprintf("%s/0000:%02x:00.0", root, bus), class: "120000", vendor: "19e5", model: "d802", sub: "19e5:3000", numa: i / 2,
			speed: "16.0", width: 16, max: 16, driver: "devdrv_device_driver"})
	}
	dpu := m.pci(pciSpec{path: "pci0000:30/0000:30:00.0/0000:31:00.0", class: "020000", vendor: "15b3", model: "a2dc", numa: 0, speed: "32.0", width: 16, max: 16, driver: "mlx5_core"})
	m.pci(pciSpec{path: "pci0000:30/0000:30:00.0", class: "060400", vendor: "19e5", model: "a120", numa: 0, speed: "16.0", width: 16, max: 16})
	m.net(dpu, "enp49s0f0np0", "c4:70:bd:00:00:10", "200000", true)
	m.rdma(dpu, "mlx5_bond_0", "200 Gb/sec (4X HDR)", "Ethernet")
	display := m.pci(pciSpec{path: "pci0000:7b/0000:7b:00.0", class: "030000", vendor: "19e5", model: "1711", numa: 0, driver: "hibmc-drm"})
	_ = display
	m.write("topology.yaml", `
devices:
  - {pci: "0000:c1:00.0", uid: "4A8C1F3E-00000001", memory_bytes: 68719476736, slices: [{id: "100", kind: vnpu, profile: vir10_3c_32g, cores: 10}]}
links:
  - {from: "0000:c1:00.0", to: "0000:c2:00.0", kind: hccs, bandwidth: 2.8e10, count: 1}
  - {from: "0000:c2:00.0", to: "0000:c1:00.0", kind: hccs, bandwidth: 2.8e10, count: 1}
  - {from: "0000:c1:00.0", to: "0000:ff:00.0", kind: hccs}`)
}

// virtualNode is a plain virtual machine: one NUMA node that the devices do not name, no
// link speeds, virtio.
func virtualNode(m *machine) {
	m.system("6.8.0-31-generic", "x86_64", "QEMU", "Standard PC (Q35 + ICH9, 2009)", 8388608)
	m.cpus(1, 2, "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC-Milan Processor\nflags\t\t: fpu avx2 hypervisor")
	m.numa(0, "0-3", "10", 8388608)
	nic := m.pci(pciSpec{path: "pci0000:00/0000:00:03.0", class: "020000", vendor: "1af4", model: "1041", numa: -1, driver: "virtio-pci"})
	m.write(nic+"/virtio1/status", "0x0000000f")
	m.check(mkdir(m, "sys/bus/virtio/drivers/virtio_net"))
	m.link(nic+"/virtio1/driver", "sys/bus/virtio/drivers/virtio_net")
	at := nic + "/virtio1/net/eth0"
	m.write(at+"/address", "52:54:00:12:34:56", at+"/mtu", "1500", at+"/type", "1", at+"/operstate", "up", at+"/addr_assign_type", "0")
	m.link(at+"/device", nic+"/virtio1")
	m.link("sys/class/net/eth0", at)
	blk := m.pci(pciSpec{path: "pci0000:00/0000:00:04.0", class: "010000", vendor: "1af4", model: "1042", numa: -1, driver: "virtio-pci"})
	m.write(blk+"/virtio2/block/vda/size", "41943040", blk+"/virtio2/block/vda/queue/rotational", "1")
	m.link("sys/block/vda", blk+"/virtio2/block/vda")
}

// amdNode has two MI300X with XGMI between them, on two sockets, one of them partitioned.
func amdNode(m *machine) {
	m.system("6.5.0-41-generic", "x86_64", "Dell Inc.", "PowerEdge XE9680", 2377900032)
	m.cpus(2, 2, "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 9454 48-Core Processor\nflags\t\t: fpu avx2 avx512f")
	m.numa(0, "0-1,4-5", "10 32", 1188950016)
	m.numa(1, "2-3,6-7", "32 10", 1188950016)
	for i, bus := range []int{0x05, 0x85} {
		base := fmt.Sprintf("pci0000:%02x/0000:%02x:01.1", bus-5, bus-5)
		m.pci(pciSpec{path: base, class: "060400", vendor: "1022", model: "14ab", numa: i, speed: "32.0", width: 16, max: 16})
		at := m.pci(pciSpec{path: fmt.Sprintf("%s/0000:%02x:00.0", base, bus), class: "120000", vendor: "1002", model: "74a1", sub: "1002:74a1", numa: i,
			speed: "32.0", width: 16, max: 16, driver: "amdgpu"})
		m.write(at+"/unique_id", fmt.Sprintf("5a9d1f0e2b3c4d5%d", i), at+"/mem_info_vram_total", "205822885888", at+"/vbios_version", "113-M3000100-102",
			at+"/current_compute_partition", "SPX", at+"/current_memory_partition", "NPS1", at+"/product_name", "AMD Instinct MI300X OAM")
		kfd := fmt.Sprintf("sys/class/kfd/kfd/topology/nodes/%d", i+2)
		m.write(kfd+"/properties", fmt.Sprintf("cpu_cores_count 0\nsimd_count 1216\nvendor_id 4098\ndevice_id 29857\nlocation_id %d\ndomain 0\ngfx_target_version 90402", bus<<8),
			kfd+"/io_links/0/properties", fmt.Sprintf("type 2\nnode_from %d\nnode_to %d\nmax_bandwidth 64000", i+2, i),
			kfd+"/io_links/1/properties", fmt.Sprintf("type 11\nnode_from %d\nnode_to %d\nweight 15\nmin_bandwidth 64000\nmax_bandwidth 64000", i+2, 3-i))
	}
	m.write("sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 2\nsimd_count 0\nlocation_id 0",
		"sys/class/kfd/kfd/topology/nodes/1/properties", "cpu_cores_count 2\nsimd_count 0\nlocation_id 0")
}
