package dashboards

var fleet = page{
	uid: "sextant-fleet", title: "Sextant / Fleet", file: "fleet", from: "now-1h", refresh: "30s",
	about:       "All nodes and accelerators: how many, how busy, what is wrong. Start here.",
	variables:   []variable{simulated, clusters},
	annotations: []annotation{faults, brokenPromises},
	groups: []group{
		{"Now", []panel{
			{kind: number, title: "Nodes", width: 3, unit: count, sql: "nodes", about: "Nodes with rows of node_monitoring in the time range."},
			{kind: number, title: "Silent nodes", width: 3, unit: count, sql: "silent", steps: some, link: toPipeline,
				about: "Nodes that had rows in the time range, but none in its last two minutes."},
			{kind: number, title: "Accelerators", width: 3, unit: count, sql: "accelerators", link: toAll, about: "Accelerators of all vendors with rows of device_monitoring in the time range."},
			{kind: number, title: "Accelerators busy", width: 3, unit: ratio, sql: "accelerators_busy", about: "Mean share of time in which an accelerator was busy, over the last minute of the time range."},
			{kind: number, title: "Tasks running", width: 3, unit: count, sql: "tasks_running", link: toScheduler, about: "Tasks that run, each counted once: not a Job beside its pods."},
			{kind: number, title: "Tasks waiting", width: 3, unit: count, sql: "tasks_waiting", link: toScheduler, about: "Tasks that are submitted, queued or evicted."},
			{kind: number, title: "Device faults", width: 3, unit: count, sql: "faults", steps: some, link: toAll,
				about: "Faults of accelerators in the time range: XIDs, error codes, AFIDs. A lower bound where the exporter only shows the last code."},
			{kind: number, title: "Broken promises", width: 3, unit: count, sql: "promises_broken", steps: some, link: toPromises,
				about: "Promises to tasks that were broken in the time range: queue time, deadline, latency."},
		}},
		{"Load", []panel{
			{title: "CPU", width: 12, unit: ratio, max: 1, sql: "cpu", steps: rising(0.8, 0.95), lines: true,
				about: "Share of CPU time that was busy over a minute: mean, 95th percentile and highest of the nodes. A high 95th percentile beside a low mean is a few hot nodes."},
			{title: "Memory", width: 12, unit: ratio, max: 1, sql: "memory", steps: rising(0.85, 0.95), lines: true, about: "Share of memory in use: mean, 95th percentile and highest of the nodes."},
			{title: "Accelerators busy, by vendor", width: 12, unit: ratio, max: 1, sql: "busy_by_vendor", label: "vendor", link: toVendor,
				about: "Mean share of time in which an accelerator was busy, over a minute. The vendor is the inventory's."},
			{title: "Power of accelerators, by vendor", width: 12, unit: watts, sql: "power_by_vendor", label: "vendor", stack: true, link: toVendor,
				about: "Power draw of the devices together, as their exporters read it."},
		}},
		{"Room", []panel{
			{title: "Accelerators given out", width: 12, unit: ratio, max: 1, sql: "allocation", label: "cluster",
				about: "Accelerators that placed tasks asked for, over those of all nodes of the inventory."},
			{title: "Fragmentation", width: 12, unit: ratio, max: 1, sql: "fragmentation",
				about: "How scattered the free accelerators are: 0 when all are on one node or none is free, near 1 when each is alone; beside it the share that is on nodes of which nothing is given out."},
			{kind: rows, title: "Models", width: 12, sql: "models", about: "Accelerators of the inventory by vendor and model.", fields: []field{
				{name: "vendor", link: toVendor}, {name: "model", link: toModel}, {name: "memory", unit: byteSize}}},
			{kind: rows, title: "Racks", width: 12, sql: "racks", about: "Racks of the inventory at the end of the time range: how busy, and how much is given out.", fields: []field{
				{name: "cpu", unit: ratio, steps: rising(0.8, 0.95)}, {name: "memory", unit: ratio, steps: rising(0.85, 0.95)}, {name: "allocated", unit: ratio}}},
		}},
		{"Nodes", []panel{
			{kind: rows, title: "Nodes", width: 24, tall: 14, sql: "nodes_table",
				about: "The newest row of each node, those with faults and the busiest first. At most 500; a node links to its page.",
				fields: []field{
					{name: "node", link: toNode},
					{name: "cpu", unit: ratio, steps: rising(0.8, 0.95)}, {name: "memory", unit: ratio, steps: rising(0.85, 0.95)},
					{name: "load", unit: count, steps: rising(1, 2)}, {name: "busy", unit: ratio},
					{name: "unhealthy", unit: count, steps: some}, {name: "faults", unit: count, steps: some}, {name: "newest", unit: when}}},
		}},
	},
}
