package dashboards

var tenantsAndQueues = page{
	uid: "sextant-tenants", title: "Sextant / Tenants and queues", file: "tenants", from: "now-6h", refresh: "1m",
	about:       "Who holds what, who waits for what, and how long.",
	variables:   []variable{clusters, tenants, queueNames},
	annotations: nil,
	groups: []group{
		{"Tenants", []panel{
			{title: "Accelerators held", width: 12, unit: count, sql: "allocated", label: "tenant", stack: true, link: toTenant, about: "Accelerators that the placed tasks of each tenant asked for."},
			{title: "Accelerators waited for", width: 12, unit: count, sql: "asked", label: "tenant", stack: true, link: toTenant, about: "Accelerators that the waiting tasks of each tenant ask for."},
			{title: "CPU held", width: 8, unit: count, sql: "cpu", label: "tenant", stack: true, link: toTenant, about: "CPU cores that the placed tasks of each tenant asked for."},
			{title: "Memory held", width: 8, unit: byteSize, sql: "memory", label: "tenant", stack: true, link: toTenant, about: "Memory that the placed tasks of each tenant asked for."},
			{title: "Failed tasks", width: 8, unit: ratio, max: 1, sql: "failures", label: "tenant", steps: rising(0.05, 0.2), lines: true, link: toTenant,
				about: "Share of the tasks that failed, of those that finished or failed within an hour."},
			{kind: rows, title: "Tenants", width: 24, sql: "tenants", about: "Each tenant at the end of the time range; what ended is of the last hour, the error budget of the last 24.", fields: []field{
				{name: "tenant", link: toTenantSLA}, {name: "share", unit: ratio}, {name: "wait p95", unit: seconds}, {name: "failed", unit: count, steps: some},
				{name: "evicted", unit: count, steps: some}, {name: "budget", unit: ratio, steps: falling(0.5, 0)}}},
		}},
		{"Queues", []panel{
			{title: "Waiting tasks", width: 8, unit: count, sql: "queue_length", label: "queue", stack: true, link: toQueue, about: "Tasks of each queue that are submitted, queued or evicted."},
			{title: "Wait of placed tasks", width: 8, unit: seconds, sql: "queue_wait", label: "queue", link: toQueue, about: "95th percentile of the wait of the tasks that were placed within an hour."},
			{title: "Longest wait", width: 8, unit: seconds, sql: "longest_wait", label: "queue", link: toQueue, about: "Longest wait of a task that still waits."},
			{kind: rows, title: "Use now", width: 24, sql: "usage", about: "What the tasks of each tenant's queue hold now, and what those that wait ask for.", fields: []field{
				{name: "tenant", link: toTenant}, {name: "queue", link: toQueue}, {name: "memory", unit: byteSize}, {name: "longest wait", unit: seconds}}},
			{kind: rows, title: "Waits and runs, by type", width: 24, sql: "times", about: "How long the tasks of each tenant, queue and type waited and ran, of all that are kept.", fields: []field{
				{name: "tenant", link: toTenant}, {name: "queue", link: toQueue}, {name: "wait p50", unit: seconds}, {name: "wait p95", unit: seconds},
				{name: "failed", unit: count, steps: some}, {name: "run p50", unit: seconds}, {name: "run p95", unit: seconds}}},
		}},
	},
}
