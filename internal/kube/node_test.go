package kube

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sextant/pipeline/kafka"
	"sextant/schema/nodes"
	"sextant/schema/tasks"
	"sextant/schema/topics"
	"sextant/schema/wire"
)

// machineNode is a node as a kubelet and a cloud write it.
func machineNode(edits ...func(*corev1.Node)) *corev1.Node {
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "gpu-1", UID: "u1", CreationTimestamp: second(0), ResourceVersion: "7",
			Labels: map[string]string{"topology.kubernetes.io/region": "eu", "topology.kubernetes.io/zone": "eu-1", "example.com/rack": "r7", "node.kubernetes.io/instance-type": "p5"},
			Annotations: map[string]string{"sextant/tenant": "acme", "keep.me/a": "b", "node.alpha.kubernetes.io/ttl": "0",
				"keep.me/c": "line\nbreak"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Time: new(second(9))}}},
		Spec: corev1.NodeSpec{ProviderID: "aws:///eu-1/i-1", PodCIDRs: []string{"10.0.0.0/24"}, Unschedulable: true,
			Taints: []corev1.Taint{{Key: "node.kubernetes.io/unschedulable", Effect: corev1.TaintEffectNoSchedule}, {Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoExecute}}},
		Status: corev1.NodeStatus{
			Capacity:    quantities("cpu", "128", "memory", "1Ti", "pods", "110", "nvidia.com/gpu", "8", "huawei.com/Ascend910", "4", "amd.com/gpu", "2", "rdma/hca", "1k"),
			Allocatable: quantities("cpu", "127500m", "memory", "1000Gi", "pods", "110", "nvidia.com/gpu", "7"),
			Conditions: []corev1.NodeCondition{
				{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "posting", LastTransitionTime: second(3), LastHeartbeatTime: second(9)},
				{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionTrue, Reason: "Low", LastTransitionTime: second(4)},
				{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse}},
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.7"}, {Type: corev1.NodeHostName, Address: "gpu-1"}},
			NodeInfo: corev1.NodeSystemInfo{KubeletVersion: "v1.36.3", ContainerRuntimeVersion: "containerd://2.1.4", OSImage: "Ubuntu 24.04", KernelVersion: "6.8",
				OperatingSystem: "linux", Architecture: "amd64", BootID: "b1", MachineID: "m1"},
			Images: []corev1.ContainerImage{{Names: []string{"i"}}},
		}}
	for _, e := range edits {
		e(n)
	}
	return n
}

func nodeConfig() Config {
	cfg := DefaultConfig()
	cfg.Cluster, cfg.RackLabels, cfg.NodeAnnotations = "c", []string{"topology.kubernetes.io/rack", "example.com/rack"}, []string{"keep.me/a", "keep.me/c"}
	return cfg
}

func TestWhatANodeSays(t *testing.T) {
	cfg := nodeConfig()
	n := machineNode()
	trimNode(n)
	d := seeNode(n, &cfg)
	d.Collected, d.Since = ms(20), ms(20)
	if err := d.Seal(); err != nil {
		t.Fatal(err)
	}
	b, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := nodes.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%+v", nodes.Node{Version: 1, Cluster: "c", Node: "gpu-1", Collected: ms(20), Since: ms(20), Hash: d.Hash, UID: "u1", Created: ms(0),
		Provider: "aws:///eu-1/i-1", Region: "eu", Zone: "eu-1", Rack: "r7", Labels: n.Labels, Annotations: map[string]string{"sextant/tenant": "acme", "keep.me/a": "b"},
		Taints:        []nodes.Taint{{Key: "gpu", Value: "yes", Effect: "NoExecute"}, {Key: "node.kubernetes.io/unschedulable", Effect: "NoSchedule"}},
		Unschedulable: true,
		Capacity:      map[string]string{"cpu": "128", "memory": "1Ti", "pods": "110", "nvidia.com/gpu": "8", "huawei.com/Ascend910": "4", "amd.com/gpu": "2", "rdma/hca": "1k"},
		Allocatable:   map[string]string{"cpu": "127500m", "memory": "1000Gi", "pods": "110", "nvidia.com/gpu": "7"},
		Conditions: []nodes.Condition{{Type: "DiskPressure", Status: "False"}, {Type: "MemoryPressure", Status: "True", Reason: "Low", Since: ms(4)},
			{Type: "Ready", Status: "True", Reason: "KubeletReady", Since: ms(3)}},
		Addresses: []nodes.Address{{Type: "Hostname", Address: "gpu-1"}, {Type: "InternalIP", Address: "10.0.0.7"}},
		Kubelet:   "v1.36.3", Runtime: "containerd://2.1.4", OSImage: "Ubuntu 24.04", Kernel: "6.8", OS: "linux", Arch: "amd64", BootID: "b1", MachineID: "m1"})
	if got := fmt.Sprintf("%+v", *back); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := nodes.Amounts(back.Capacity); got[tasks.CPU] != 128 || got[tasks.Memory] != 1<<40 || got[tasks.Accelerators+"nvidia"] != 8 ||
		got[tasks.Accelerators+"huawei"] != 4 || got[tasks.Accelerators+"amd"] != 2 || got["rdma/hca"] != 1000 {
		t.Errorf("%v", got)
	}
	if got := nodes.Amounts(back.Allocatable); got[tasks.CPU] != 127.5 {
		t.Errorf("%v", got)
	}
	if !slices.Equal(back.Trouble(), []string{"MemoryPressure"}) {
		t.Errorf("%v", back.Trouble())
	}
}

// TestOnlyWhatMeansSomethingIsNew: a heartbeat, a new image or another order changes
// nothing; all that a scheduler asks about does.
func TestOnlyWhatMeansSomethingIsNew(t *testing.T) {
	cfg := nodeConfig()
	hashOf := func(n *corev1.Node) string {
		d := seeNode(n, &cfg)
		if err := d.Seal(); err != nil {
			t.Fatal(err)
		}
		return d.Hash
	}
	whole := hashOf(machineNode())
	cut := machineNode()
	trimNode(cut)
	for name, n := range map[string]*corev1.Node{
		"trimmed": cut,
		"heartbeat": machineNode(func(n *corev1.Node) {
			n.ResourceVersion = "8"
			n.Status.Conditions[0].LastHeartbeatTime, n.Status.Conditions[0].Message = second(99), "still posting"
		}),
		"image": machineNode(func(n *corev1.Node) { n.Status.Images = nil }),
		"order": machineNode(func(n *corev1.Node) {
			slices.Reverse(n.Spec.Taints)
			slices.Reverse(n.Status.Conditions)
			slices.Reverse(n.Status.Addresses)
		}),
		"other annotation": machineNode(func(n *corev1.Node) { n.Annotations["x"] = "y" }),
	} {
		if hashOf(n) != whole {
			t.Errorf("%s changes the node", name)
		}
	}
	for name, edit := range map[string]func(*corev1.Node){
		"label":      func(n *corev1.Node) { n.Labels["a"] = "b" },
		"annotation": func(n *corev1.Node) { n.Annotations["keep.me/a"] = "c" },
		"taint":      func(n *corev1.Node) { n.Spec.Taints = n.Spec.Taints[:1] },
		"cordon":     func(n *corev1.Node) { n.Spec.Unschedulable = false },
		"resource":   func(n *corev1.Node) { n.Status.Allocatable["huawei.com/Ascend910"] = quantities("x", "3")["x"] },
		"not ready":  func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown },
		"flapped":    func(n *corev1.Node) { n.Status.Conditions[0].LastTransitionTime = second(8) },
		"pressure":   func(n *corev1.Node) { n.Status.Conditions[2].Status = corev1.ConditionTrue },
		"rack":       func(n *corev1.Node) { n.Labels["topology.kubernetes.io/rack"] = "r8" },
		"kubelet":    func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = "v1.37.0" },
		"uid":        func(n *corev1.Node) { n.UID = "u2" },
		"address":    func(n *corev1.Node) { n.Status.Addresses[0].Address = "10.0.0.8" },
	} {
		if hashOf(machineNode(edit)) == whole {
			t.Errorf("%s changes nothing", name)
		}
	}
}

// TestNodesBeyondTheLimits: what a document cannot hold is left out, and the rest is told.
func TestNodesBeyondTheLimits(t *testing.T) {
	cfg := nodeConfig()
	d := seeNode(machineNode(func(n *corev1.Node) {
		for i := range 2000 {
			n.Labels[fmt.Sprintf("l%04d", i)] = "v"
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: fmt.Sprint(i), Effect: "NoSchedule"})
			n.Status.Capacity[corev1.ResourceName(fmt.Sprintf("r%04d", i))] = quantities("x", "1")["x"]
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeConditionType(fmt.Sprint(i)), Status: "True"})
			n.Annotations[fmt.Sprintf("sextant/%d", i)] = "x"
		}
		n.Status.Capacity["negative"] = quantities("x", "-1")["x"]
		n.Status.NodeInfo.OSImage = strings.Repeat("x", 5000)
		n.Status.NodeInfo.KernelVersion = "bad\xff\n"
	}), &cfg)
	d.Collected, d.Since = 1, 1
	if err := d.Seal(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Encode(); err != nil {
		t.Error(err)
	}
}

// rollDesk is a roll whose informer does not run.
type rollDesk struct {
	*testing.T
	*roll
	kafka kafka.Config
	clock time.Time
	read  map[[2]int64]bool // partition and offset
}

func (d *rollDesk) next() *roll {
	d.Helper()
	p, err := kafka.NewProducer(d.kafka, kafka.ProducerOptions{Uncompressed: []string{topics.Nodes}})
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { p.Close() })
	m, err := NewMetrics(nil)
	if err != nil {
		d.Fatal(err)
	}
	cfg := nodeConfig()
	r := newRoll(newWatcher("c", p, Options{Metrics: m, Log: slog.New(slog.DiscardHandler)}), &cfg, idle(&corev1.Node{}, &corev1.NodeList{}))
	r.now = func() time.Time { return d.clock }
	if err := r.recall(d.Context(), d.kafka); err != nil {
		d.Fatal(err)
	}
	return r
}

// records are those of the topic since the last call; of a node that is gone one with a
// minus before its name.
func (d *rollDesk) records() (out []*nodes.Node) {
	d.Helper()
	err := kafka.ReadAll(d.Context(), d.kafka, topics.Nodes, func(r *wire.Record) error {
		at := [2]int64{int64(r.Partition), r.Offset}
		if d.read[at] {
			return nil
		}
		d.read[at] = true
		if len(r.Value) == 0 {
			out = append(out, &nodes.Node{Node: "-" + strings.TrimPrefix(string(r.Key), "c/")})
			return nil
		}
		n, err := nodes.Decode(r.Value)
		out = append(out, n)
		return err
	})
	if err != nil {
		d.Fatal(err)
	}
	return out
}

// TestRoll: a node is told when it changes and once an hour, over a change of leaders, and
// so is that it was deleted, with or without a witness.
func TestRoll(t *testing.T) {
	d := &rollDesk{T: t, kafka: startBroker(t), clock: start, read: map[[2]int64]bool{}}
	d.roll = d.next()
	put := func(edits ...func(*corev1.Node)) {
		t.Helper()
		if err := d.informer.GetStore().Add(machineNode(edits...)); err != nil {
			t.Fatal(err)
		}
	}
	named := func(name string) func(*corev1.Node) { return func(n *corev1.Node) { n.Name = name } }
	look := func(what string, want int, names ...string) []*nodes.Node {
		t.Helper()
		if err := d.look(t.Context(), names); err != nil {
			t.Fatal(err)
		}
		got := d.records()
		if len(got) != want {
			t.Fatalf("%s: %d records, want %d", what, len(got), want)
		}
		return got
	}
	put(named("a"))
	put(named("b"))
	look("both are new", 2, "a", "b")
	d.clock = d.clock.Add(10 * time.Minute)
	look("nothing changed", 0, "a", "b", "never seen")
	put(named("a"), func(n *corev1.Node) { n.Spec.Unschedulable = false })
	if got := look("cordon lifted", 1, "a"); got[0].Since != d.clock.UnixMilli() || got[0].Unschedulable {
		t.Errorf("%+v", got[0])
	}
	d.clock = d.clock.Add(time.Hour)
	if got := look("an hour later", 1, d.due()[0]); got[0].Collected-got[0].Since < 3600_000 {
		t.Errorf("an unchanged node begins anew: %+v", got[0])
	}

	last := d.roll
	d.roll = d.next()
	d.informer = last.informer // the objects are where they were
	if len(d.told) != 2 {
		t.Fatalf("recalled %v", d.told)
	}
	look("the next leader", 1, "a", "b") // the other of the hour
	look("again", 0, "a", "b")
	if gone := d.missing(); len(gone) != 0 {
		t.Errorf("missing %v", gone)
	}
	if err := d.informer.GetStore().Delete(machineNode(named("b"))); err != nil {
		t.Fatal(err)
	}
	look("the list is not whole", 0, "b")
	d.whole = true
	if got := look("deleted while nobody watched", 1, d.missing()...); got[0].Node != "-b" {
		t.Errorf("%+v", got[0])
	}
	look("once", 0, "b")
	d.roll = d.next()
	if len(d.told) != 1 {
		t.Errorf("recalled %v", d.told)
	}
}
