package dashboards

var sla = page{
	uid: "sextant-sla", title: "Sextant / Promises", file: "sla", from: "now-6h", refresh: "1m",
	about:       "Promises to tasks (queue time, deadline, latency): which were broken, whose, and how it stood there at the time.",
	variables:   []variable{simulated, clusters, tenants, queueNames},
	annotations: []annotation{faults},
	groups: []group{
		{"In the time range", []panel{
			{kind: number, title: "Broken promises", width: 6, unit: count, sql: "broken", steps: some, about: "Each promise of a task counts once, when it was broken."},
			{kind: number, title: "Tasks", width: 6, unit: count, sql: "tasks_broken", steps: some, about: "Tasks of which a promise was broken."},
			{kind: number, title: "Overdue tasks", width: 6, unit: count, sql: "overdue", steps: some, about: "Tasks that have not ended and whose deadline is over, at the end of the time range."},
			{kind: number, title: "Least error budget", width: 6, unit: ratio, sql: "budget_least", steps: falling(0.5, 0),
				about: "What is left of the 24-hour error budget (1 % of the tasks with a promise) of the tenant that has least. Below 0 it is overdrawn."},
		}},
		{"Over time", []panel{
			{title: "Broken, by kind", width: 12, unit: count, sql: "by_kind", label: "kind", stack: true, counts: true, about: "Promises that were broken in each step."},
			{title: "Broken, by tenant", width: 12, unit: count, sql: "by_tenant", label: "tenant", stack: true, counts: true, link: toTenant, about: "Promises that were broken in each step."},
			{title: "Share of tasks with a broken promise", width: 12, unit: ratio, max: 1, sql: "broken_ratio", label: "queue", link: toQueue,
				about: "Of the tasks of each queue with a promise that have not ended, or ended within 24 hours."},
			{title: "Error budget", width: 12, unit: ratio, sql: "budget", label: "tenant", signed: true, steps: falling(0.5, 0), lines: true, link: toTenant,
				about: "What is left of each tenant's error budget of 1 % over 24 hours. A steep fall burns it; below 0 it is overdrawn."},
		}},
		{"Causes", []panel{
			{kind: rows, title: "By kind, tenant, queue and type", width: 14, sql: "causes", about: "How many, by how much, and how long the queue was at the time.", fields: []field{
				{name: "tenant", link: toTenant}, {name: "queue", link: toQueue}, {name: "broken", unit: count, steps: some},
				{name: "over by p50", unit: seconds}, {name: "over by p95", unit: seconds}}},
			{kind: rows, title: "By node", width: 10, sql: "nodes", about: "Where tasks were bound when their promise was broken, and how contended the node was then, on average.", fields: []field{
				{name: "node", link: toNode}, {name: "broken", unit: count, steps: some}, {name: "cpu", unit: ratio, steps: rising(0.8, 0.95)},
				{name: "memory", unit: ratio, steps: rising(0.85, 0.95)}, {name: "busy", unit: ratio}}},
			{kind: rows, title: "Newest", width: 24, tall: 12, sql: "newest", about: "The newest 200 broken promises, as they stood when they were seen.", fields: []field{
				{name: "breached", unit: instant}, {name: "node", link: toNode}, {name: "tenant", link: toTenant}, {name: "queue", link: toQueue},
				{name: "promised", unit: seconds}, {name: "measured", unit: seconds}}},
		}},
	},
}
