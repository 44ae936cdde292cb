package expose

import (
	"fmt"

	"sextant/internal/simulate"
)

// group is a cgroup that cAdvisor reports: a pod, its sandbox or its container.
type group struct {
	pod    *simulate.Pod
	labels string
	net    string // with the interface; "" where there is no network
	share  float64
	leaf   bool
}

// cadvisorMetrics are families with a row for each cgroup, each with its own time.
var cadvisorMetrics = []struct {
	name, kind, help string
	leaf, net        bool // only on containers; only on pods
	value            func(g group, h *simulate.Node) float64
}{
	{"container_cpu_usage_seconds_total", counter, "Cumulative cpu time consumed in seconds.", false, false, func(g group, _ *simulate.Node) float64 { return g.pod.CPUSeconds * g.share }},
	{"container_memory_working_set_bytes", gauge, "Current working set in bytes.", false, false, func(g group, _ *simulate.Node) float64 { return whole(g.pod.WorkingSet * g.share) }},
	{"container_memory_usage_bytes", gauge, "Current memory usage in bytes, including all memory regardless of when it was accessed", false, false, func(g group, _ *simulate.Node) float64 { return whole(g.pod.WorkingSet * g.share * 1.2) }},
	{"container_memory_rss", gauge, "Size of RSS in bytes.", false, false, func(g group, _ *simulate.Node) float64 { return whole(g.pod.WorkingSet * g.share * 0.9) }},
	{"container_memory_cache", gauge, "Number of bytes of page cache memory.", false, false, func(g group, _ *simulate.Node) float64 { return whole(g.pod.WorkingSet * g.share * 0.3) }},
	{"container_start_time_seconds", gauge, "Start time of the container since unix epoch in seconds.", true, false, func(g group, _ *simulate.Node) float64 { return whole(float64(g.pod.Started) / 1e3) }},
	{"container_last_seen", gauge, "Last time a container was seen by the exporter", true, false, func(_ group, n *simulate.Node) float64 { return whole(float64(n.Clock()) / 1e3) }},
	{"container_oom_events_total", counter, "Count of out of memory events observed for the container", true, false, func(group, *simulate.Node) float64 { return 0 }},
	{"container_network_receive_bytes_total", counter, "Cumulative count of bytes received", false, true, func(g group, _ *simulate.Node) float64 { return whole(g.pod.RxBytes) }},
	{"container_network_transmit_bytes_total", counter, "Cumulative count of bytes transmitted", false, true, func(g group, _ *simulate.Node) float64 { return whole(g.pod.TxBytes) }},
	{"container_network_receive_errors_total", counter, "Cumulative count of errors encountered while receiving", false, true, func(group, *simulate.Node) float64 { return 0 }},
	{"container_network_transmit_errors_total", counter, "Cumulative count of errors encountered while transmitting", false, true, func(group, *simulate.Node) float64 { return 0 }},
}

func (p *page) cadvisor(n *simulate.Node) {
	groups := make([]group, 0, 3*len(n.Host.Pods))
	for i := range n.Host.Pods {
		pod := &n.Host.Pods[i]
		id := fmt.Sprintf("/kubepods.slice/kubepods-pod%08x.slice", pod.Job.ID)
		ns, job := pod.Job.Namespace, pod.Job
		of := func(container, id, image, name string) string {
			return pairs("container", container, "id", id, "image", image, "name", name, "namespace", ns, "pod", pod.Name)
		}
		groups = append(groups,
			group{pod: pod, share: 1, labels: of("", id, "", ""), net: pairs("container", "", "id", id, "image", "", "interface", "eth0", "name", "", "namespace", ns, "pod", pod.Name)},
			group{pod: pod, share: 0.0001, labels: of("POD", id+"/pause", "pause:3.9", "k8s_POD_"+pod.Name)},
			group{pod: pod, share: 0.9999, labels: of(job.Container, id+"/main", job.Container+":1", "k8s_"+job.Container+"_"+pod.Name), leaf: true})
	}
	for _, m := range cadvisorMetrics {
		p.head(m.name, m.kind, m.help)
		for _, g := range groups {
			if m.leaf && !g.leaf || m.net && g.net == "" {
				continue
			}
			labels := g.labels
			if m.net {
				labels = g.net
			}
			p.rowAt(m.name, labels, m.value(g, n), n.Clock())
		}
	}
	p.one("machine_cpu_cores", gauge, "Number of logical CPU cores.", pairs("boot_id", "", "machine_id", "", "system_uuid", ""), float64(n.Group.Host.CPUs))
	p.one("machine_memory_bytes", gauge, "Amount of memory installed on the machine.", pairs("boot_id", "", "machine_id", "", "system_uuid", ""), float64(n.Group.Host.Memory))
}
