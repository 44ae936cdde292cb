package clickhouse

import (
	"slices"
	"testing"

	"sextant/pipeline/nodes"
	schema "sextant/schema/nodes"
	tasks "sextant/schema/tasks"
	"sextant/schema/wire"
)

// kubernetesNode is a node with 8 accelerators, of which one is not offered, since then.
func kubernetesNode(name string, since int64, edits ...func(*schema.Node)) *schema.Node {
	n := &schema.Node{Cluster: "c", Node: name, Since: since, Collected: since, UID: "u-" + name, Created: t0 - 1000_000, Provider: "cloud:///" + name,
		Region: "eu", Zone: "z9", Rack: "r9", Labels: map[string]string{"pool": "train"}, Annotations: map[string]string{"sextant/tenant": "acme"},
		Taints:      []schema.Taint{{Key: "gpu", Value: "yes", Effect: "NoSchedule"}, {Key: "node.kubernetes.io/not-ready", Effect: "NoExecute"}},
		Capacity:    map[string]string{"cpu": "16", "memory": "64G", "pods": "110", "nvidia.com/gpu": "8", "rdma/hca": "2"},
		Allocatable: map[string]string{"cpu": "15500m", "memory": "60G", "pods": "110", "nvidia.com/gpu": "7", "rdma/hca": "2"},
		Conditions:  []schema.Condition{{Type: "MemoryPressure", Status: "True", Reason: "Low", Since: since}, {Type: "Ready", Status: "True", Since: since - 500_000}},
		Addresses:   []schema.Address{{Type: "InternalIP", Address: "10.0.0.1"}},
		Kubelet:     "v1.36.3", Runtime: "containerd://2.1", OSImage: "Ubuntu", Kernel: "6.8-k", OS: "linux", Arch: "amd64", BootID: "boot"}
	for _, e := range edits {
		e(n)
	}
	return n
}

// saidOf stores what Kubernetes said, as the pipeline reads it off Kafka; nil is a deletion.
func saidOf(t *testing.T, db *DB, name string, ingest int64, n *schema.Node) nodes.Row {
	t.Helper()
	r := &wire.Record{Offset: ingest, Ingest: ingest, Key: schema.Key("c", name)}
	if n != nil {
		if err := n.Seal(); err != nil {
			t.Fatal(err)
		}
		b, err := n.Encode()
		if err != nil {
			t.Fatal(err)
		}
		r.Value = b
	}
	row, err := nodes.Decode(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.NewNodeSink().WriteNodes(t.Context(), []nodes.Row{row}); err != nil {
		t.Fatal(err)
	}
	return row
}

func TestNodesOfAgentAndKubernetes(t *testing.T) {
	db := openDB(t)
	writeInventory(t, db, rowOf(t, inventoryOf("both", "6.1", t0), 0, t0+10), rowOf(t, inventoryOf("agent", "6.1", t0), 1, t0+10))
	saidOf(t, db, "both", t0+20, kubernetesNode("both", t0))
	saidOf(t, db, "kube", t0+20, kubernetesNode("kube", t0, func(n *schema.Node) {
		n.Unschedulable, n.Taints, n.Conditions = true, nil, []schema.Condition{{Type: "Ready", Status: "Unknown", Since: t0 - 7000}}
	}))
	for _, c := range []struct{ name, columns, from, want string }{
		{"hardware and Kubernetes in one row", "cpu_model, threads, accelerators, kernel, rack, zone, region, cordoned, taints[1], allocatable['nvidia.com/gpu'], kubernetes_labels['pool'], labels['pool'], agent, kubernetes, cluster, ready, schedulable, trouble[1], capacity_amounts['accelerators_nvidia'], allocatable_amounts['cpu_cores'], kubelet, runtime, provider_id, addresses[1], annotations['sextant/tenant'], dateDiff('second', ready_since, kubernetes_since)",
			"nodes WHERE node = 'both'", "Xeon 128 2 6.1 r7 z1 eu 0 gpu=yes:NoSchedule 7 train train 1 1 c 1 1 MemoryPressure 8 15.5 v1.36.3 containerd://2.1 cloud:///both InternalIP=10.0.0.1 acme 500"},
		{"an agent outside of Kubernetes", "cpu_model, cordoned, taints[1], agent, kubernetes, ready IS NULL, schedulable IS NULL, kubernetes_since IS NULL, cluster",
			"nodes WHERE node = 'agent'", "Xeon 1 gpu=yes:NoSchedule 1 0 1 1 1 "},
		{"a node without an agent", "threads IS NULL, kernel, arch, zone, cordoned, agent, kubernetes, ready, schedulable, toUnixTimestamp64Milli(since) - " + "toUnixTimestamp64Milli(collected)",
			"nodes WHERE node = 'kube'", "1 6.8-k x86_64 z9 1 0 1 0 0 0"},
		{"as features read it", "count(), countIf(cordoned), sum(threads), max(allocatable_amounts['cpu_cores'])", "nodes_at(known = '2100-01-01 00:00:00.000')", "2 1 256 15.5"},
		{"by Kubernetes alone", "arraySort(groupArray(node))", "kubernetes_nodes_at(known = '2100-01-01 00:00:00.000')", "['both','kube']"},
	} {
		if got := text(t, db, c.columns, "{db}."+c.from); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestHistoryOfANode(t *testing.T) {
	db := openDB(t)
	hour := int64(3600_000)
	first := kubernetesNode("n", t0)
	again := kubernetesNode("n", t0)
	again.Collected += hour
	notReady := kubernetesNode("n", t0+2*hour, func(n *schema.Node) { n.Conditions[1].Status = "Unknown" })
	rows := []nodes.Row{saidOf(t, db, "n", t0+5, first), saidOf(t, db, "n", t0+hour+5, again), saidOf(t, db, "n", t0+2*hour+5, notReady)}
	check := func(what, columns, from string, want ...string) {
		t.Helper()
		if got := text(t, db, columns, "{db}."+from); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	look := func() {
		t.Helper()
		check("an unchanged node is one row", "dateDiff('hour', since, collected), ready, condition_statuses[2]", "node_records FINAL ORDER BY since", "1 1 True", "0 0 Unknown")
		check("newest", "ready", "kubernetes_nodes", "0")
		check("then", "ready", "kubernetes_nodes_at(known = '"+parameterTime(t0+hour)+"')", "1")
		check("later", "ready", "kubernetes_nodes_at(known = '"+parameterTime(t0+2*hour)+"')", "0")
		check("before", "count()", "kubernetes_nodes_at(known = '"+parameterTime(t0-1)+"')", "0")
	}
	look()
	if err := db.NewNodeSink().WriteNodes(t.Context(), rows); err != nil { // another cut
		t.Fatal(err)
	}
	look()
	saidOf(t, db, "n", t0+3*hour, nil)
	check("deleted", "count()", "kubernetes_nodes", "0")
	check("deleted, joined", "count()", "nodes", "0")
	check("deleted later than", "ready", "kubernetes_nodes_at(known = '"+parameterTime(t0+2*hour)+"')", "0")
	check("deleted by then", "count()", "kubernetes_nodes_at(known = '"+parameterTime(t0+3*hour)+"')", "0")
	saidOf(t, db, "n", t0+4*hour+5, kubernetesNode("n", t0+4*hour, func(n *schema.Node) { n.UID = "second" }))
	check("made again", "uid", "kubernetes_nodes", "second")
}

func TestWhatANodeStillTakes(t *testing.T) {
	db := openDB(t)
	applyBuiltin(t, db)
	saidOf(t, db, "n1", t0+20, kubernetesNode("n1", t0+1000_000))
	saidOf(t, db, "n2", t0+20, kubernetesNode("n2", t0, func(n *schema.Node) {
		n.Conditions[1].Status, n.Conditions[1].Since, n.Taints, n.Capacity, n.Allocatable = "Unknown", 0, nil, nil, nil
	}))
	saidOf(t, db, "later", t0+2001_000, kubernetesNode("later", t0+2001_000)) // after the tick
	pod := func(e *tasks.Event) { e.Kind, e.Requests["rdma/hca"] = "pod", 1 }
	came(t, db, 1900,
		happened("a", tasks.Submitted, 1000, asked(4, 3), pod), happened("a", tasks.Started, 1100, on("n1")),
		happened("b", tasks.Submitted, 1000, asked(2, 1), pod), happened("b", tasks.Scheduled, 1100, on("n1")),
		happened("c", tasks.Submitted, 1000, asked(2, 1), pod), happened("c", tasks.Started, 1100, on("n1")), happened("c", tasks.Finished, 1200))
	r := derived(t, db, "node_kubernetes", at(2000))
	for _, c := range []struct{ node, names, want string }{
		{"n1", "ready schedulable takes_tasks ready_seconds trouble_conditions memory_pressure disk_pressure taints taints_no_schedule taints_no_execute age_seconds", "1 1 1 1500 1 1 0 2 1 1 3000"},
		{"n1", "cpu_allocatable_cores cpu_allocatable_ratio memory_allocatable_ratio pods_allocatable accelerators_allocatable accelerators_unhealthy storage_allocatable_bytes", "15.5 0.9688 0.9375 110 7 1 -"},
		{"n1", "cpu_requested_ratio accelerators_requested_ratio pods_ratio cpu_unrequested_cores accelerators_unrequested storage_requested_ratio", "0.3871 0.5714 0.01818 9.5 3 -"},
		{"n2", "ready schedulable takes_tasks ready_seconds taints cpu_allocatable_cores cpu_requested_ratio accelerators_allocatable accelerators_requested_ratio", "0 1 0 - 0 - - 0 -"},
	} {
		if got := values(t, r, c.node, c.names); got != c.want {
			t.Errorf("%s: %s\n%s\nwant\n%s", c.node, c.names, got, c.want)
		}
	}
	if len(r.Tick) != 2 {
		t.Errorf("rows of %q", r.Keys[0])
	}
	want := []string{"accelerators_nvidia 8 7 4 3", "cpu_cores 16 15.5 6 9.5", "pods 110 110 2 108", "rdma/hca 2 2 2 0"}
	if got := text(t, db, "resource, capacity, allocatable, allocated, free", "{db}.tasks_allocation WHERE node = 'n1' AND resource != 'memory_bytes'"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
