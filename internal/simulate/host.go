package simulate

import (
	"math"
	"math/rand/v2"
	"slices"
)

// CPU holds the seconds that one CPU has spent since the boot. Together they are the time
// since the boot.
type CPU struct {
	User, System, Softirq, IOWait, Idle float64
	weight                              float64 // some CPUs are given more than others
}

// Pod is what a job has used of a node's host, for cAdvisor.
type Pod struct {
	Job         *Job
	Name        string
	Started     int64   // unix ms
	CPUSeconds  float64 // user and system
	WorkingSet  float64 // bytes
	RxBytes     float64
	TxBytes     float64
	DiskBytes   float64 // read and written
	wanted      float64 // cores, in this step
	rx, tx, dsk float64 // bytes per second, in this step
}

// HostState is what the kernel of a node would say.
type HostState struct {
	CPUs     []CPU
	Pods     []Pod   // in the order in which they came
	Cores    float64 // busy with user and system work, over the last step
	Used     float64 // bytes of memory
	Load     [3]float64
	DiskUsed float64 // bytes of the root file system

	Rx, Tx                     float64 // bytes per second on eth0
	Read, Write                float64 // bytes per second
	RxBytes, TxBytes           float64
	RxPackets, TxPackets       float64
	ReadBytes, WriteBytes      float64
	DiskSeconds                float64 // with I/O in flight
	WaitCPU, WaitIO, WaitMem   float64 // seconds with someone waiting
	FabricRxBytes, FabricTxBys float64 // all network adapters
}

const (
	baseMemory  = 6 * gib // the system's own
	diskSpeed   = 3e9     // bytes per second
	packetBytes = 1400
)

func newHost(h Host, r *rand.Rand) HostState {
	s := HostState{CPUs: make([]CPU, h.CPUs), Used: baseMemory, DiskUsed: float64(h.Disk) * (0.2 + 0.3*r.Float64())}
	for i := range s.CPUs {
		s.CPUs[i].weight = 0.7 + 0.6*r.Float64()
	}
	return s
}

// step moves the host by dt seconds. Its pods have what they want in this step.
func (s *HostState) step(h Host, dt float64, r *rand.Rand) {
	n := float64(len(s.CPUs))
	base := 0.01*n + 0.1*r.Float64()
	want, rx, tx, disk := 0.0, 2e3+2e3*r.Float64(), 1e3+2e3*r.Float64(), 20e3+40e3*r.Float64()
	memory := 0.0
	for i := range s.Pods {
		p := &s.Pods[i]
		want, rx, tx, disk = want+p.wanted, rx+p.rx, tx+p.tx, disk+p.dsk
		memory += p.WorkingSet
	}
	s.network(h, rx, tx, dt)
	diskShare := min(disk/diskSpeed, 1)
	got := s.compute(base, want, diskShare, dt)
	s.storage(h, diskShare, dt)
	s.Used = min(baseMemory*min(1, 0.1+float64(h.Memory)/(16*gib))+memory, 0.95*float64(h.Memory))
	for i, minutes := range []float64{1, 5, 15} {
		s.Load[i] += (base + want - s.Load[i]) * (1 - math.Exp(-dt/(60*minutes)))
	}
	s.WaitCPU += dt * min(max((base+want)/n-0.8, 0)*2, 1)
	s.WaitIO += dt * diskShare * 0.5
	s.WaitMem += dt * max(s.Used/float64(h.Memory)-0.93, 0)
	for i := range s.Pods {
		p := &s.Pods[i]
		p.CPUSeconds += p.wanted * got * dt
		p.RxBytes += p.rx * dt * share(s.Rx, rx)
		p.TxBytes += p.tx * dt * share(s.Tx, tx)
		p.DiskBytes += p.dsk * dt * diskShare * share(diskSpeed, disk)
	}
}

// share is the part of what was wanted that was got.
func share(got, wanted float64) float64 {
	if wanted <= 0 {
		return 0
	}
	return min(got/wanted, 1)
}

// compute spreads the work over the CPUs and returns the part of it that was done.
func (s *HostState) compute(base, want, disk, dt float64) float64 {
	n := float64(len(s.CPUs))
	sum := 0.0
	for i := range s.CPUs {
		sum += s.CPUs[i].weight
	}
	s.Cores = 0
	for i := range s.CPUs {
		c := &s.CPUs[i]
		u := min((base+want)*c.weight/sum, 1)
		s.Cores += u
		wait := (1 - u) * disk * 0.1 / max(n/16, 1)
		c.User += u * 0.85 * dt
		c.System += u * 0.15 * dt
		c.IOWait += wait * dt
		soft := (1 - u - wait) * 0.002
		c.Softirq += soft * dt
		c.Idle += (1 - u - wait - soft) * dt
	}
	return share(s.Cores-base, want)
}

func (s *HostState) network(h Host, rx, tx, dt float64) {
	s.Rx, s.Tx = min(rx, float64(h.Network)), min(tx, float64(h.Network))
	s.RxBytes += s.Rx * dt
	s.TxBytes += s.Tx * dt
	s.RxPackets += s.Rx * dt / packetBytes
	s.TxPackets += s.Tx * dt / packetBytes
}

// storage reads two bytes for each that it writes; what is written is cleaned up when the
// disk is three quarters full.
func (s *HostState) storage(h Host, busy, dt float64) {
	bytes := busy * diskSpeed
	s.Read, s.Write = bytes*2/3, bytes/3
	s.ReadBytes += s.Read * dt
	s.WriteBytes += s.Write * dt
	s.DiskSeconds += busy * dt
	s.DiskUsed += s.Write * dt * 0.1
	if size := float64(h.Disk); s.DiskUsed > 0.75*size {
		s.DiskUsed = 0.4 * size
	}
}

// clone shares nothing that a later step changes.
func (s *HostState) clone() HostState {
	c := *s
	c.CPUs = slices.Clone(s.CPUs)
	c.Pods = slices.Clone(s.Pods)
	return c
}
