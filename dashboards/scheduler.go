package dashboards

var scheduler = page{
	uid: "sextant-scheduler", title: "Sextant / Scheduler", file: "scheduler", from: "now-1h", refresh: "30s",
	about:       "What schedulers decided, as task events tell it: placements, waits, evictions.",
	variables:   []variable{simulated, clusters, tenants, queueNames},
	annotations: []annotation{brokenPromises},
	groups: []group{
		{"In the time range", []panel{
			{kind: number, title: "Placed tasks", width: 6, unit: count, sql: "placed", about: "Tasks that were bound to a node."},
			{kind: number, title: "Waiting tasks", width: 6, unit: count, sql: "waiting", about: "Tasks that wait at the end of the time range."},
			{kind: number, title: "Longest wait", width: 6, unit: seconds, sql: "longest", steps: rising(300, 1800), about: "Of a task that still waits at the end of the time range."},
			{kind: number, title: "Evictions", width: 6, unit: count, sql: "evicted", steps: some, about: "Evictions and preemptions."},
		}},
		{"Over time", []panel{
			{title: "Events, by state", width: 12, unit: count, sql: "states", label: "state", stack: true, counts: true, about: "What happened to tasks in each step."},
			{title: "Placements", width: 12, unit: perSec, sql: "rate", label: "cluster", about: "Tasks that were placed, per second over an hour."},
			{title: "Wait", width: 12, unit: seconds, sql: "waits", about: "Median and 95th percentile of the wait of the tasks that were placed within an hour, and the longest wait of one that still waits. The worst of the chosen clusters."},
			{title: "Accelerators", width: 12, unit: count, sql: "room", about: "Accelerators of the inventory, those that placed tasks asked for, and those that waiting tasks ask for."},
		}},
		{"Placements", []panel{
			{kind: bars, title: "Placements, by node", width: 6, tall: 12, unit: count, sql: "by_node", link: toNode, about: "The 20 nodes with the most placements in the time range."},
			{kind: rows, title: "Newest placements", width: 18, tall: 12, sql: "placements", about: "Where each task went, how long it had waited, and how long it took to start. At most 200.", fields: []field{
				{name: "scheduled", unit: instant}, {name: "tenant", link: toTenant}, {name: "queue", link: toQueue}, {name: "node", link: toNode},
				{name: "waited", unit: seconds}, {name: "bound to started", unit: seconds}, {name: "evictions", unit: count, steps: some}}},
			{kind: rows, title: "Waiting, the longest first", width: 24, sql: "unplaced", about: "Tasks that wait at the end of the time range, with what they ask for and their place in the queue. At most 200.", fields: []field{
				{name: "tenant", link: toTenant}, {name: "queue", link: toQueue}, {name: "waited", unit: seconds}, {name: "memory", unit: byteSize}, {name: "to the deadline", unit: seconds}}},
		}},
	},
}
