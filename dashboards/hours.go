package dashboards

var hours = page{
	uid: "sextant-hours", title: "Sextant / Hours", file: "hours", from: "now-7d", refresh: "5m",
	about:     "Where the hours of accelerators went and which promises were kept, by whole hours. sextant report prints the same.",
	variables: []variable{simulated, clusters, vendors, tenants, queueNames},
	groups: []group{
		{"In the time range", []panel{
			{kind: number, title: "Device hours", width: 4, unit: count, sql: "capacity", about: "Hours of accelerators that were there."},
			{kind: number, title: "Held", width: 4, unit: ratio, sql: "allocated", about: "Share of the hours that tasks held."},
			{kind: number, title: "Busy", width: 4, unit: ratio, sql: "used", about: "Share of the hours with a reading in which the device was busy."},
			{kind: number, title: "Held and idle", width: 4, unit: count, sql: "idle", about: "Hours that a task held and in which the device was busy for less than 5 %."},
			{kind: number, title: "Stranded", width: 4, unit: count, sql: "stranded", about: "Free hours of devices on nodes of which others are held: there, and too few for who waits."},
			{kind: number, title: "Energy", width: 4, unit: "kwatth", sql: "energy", about: "Energy of the accelerators."},
		}},
		{"Accelerators", []panel{
			{title: "Device hours, by hour", width: 24, unit: count, sql: "by_hour", about: "Hours that were there, held, held and idle, and busy, in each hour. The newest is of what came so far."},
			{kind: rows, title: "By model", width: 12, sql: "by_model", about: "Where the hours of each model went.", fields: []field{
				{name: "vendor", link: toVendor}, {name: "model", link: toModel}, {name: "held", unit: ratio}, {name: "busy", unit: ratio}, {name: "energy", unit: "kwatth"}}},
			{kind: rows, title: "By tenant and queue", width: 12, sql: "by_tenant", about: "Hours that the tasks of each tenant and queue held, and what they made of them.", fields: []field{
				{name: "tenant", link: toTenant}, {name: "queue", link: toQueue}, {name: "busy", unit: ratio}, {name: "energy", unit: "kwatth"}}},
		}},
		{"Promises", []panel{
			{kind: rows, title: "Violations, by cause", width: 12, sql: "causes", about: "Broken promises, failures and evictions, with how busy the node and its devices were.", fields: []field{
				{name: "tenant", link: toTenantSLA}, {name: "queue", link: toQueue}, {name: "violations", unit: count, steps: some}, {name: "cpu", unit: ratio}}},
			{kind: rows, title: "Error budgets", width: 12, sql: "budgets", about: "Promises kept against the share that is to be kept, and what is left of the budget; a burn rate of 1 uses it up just when the time is over.", fields: []field{
				{name: "tenant", link: toTenantSLA}, {name: "queue", link: toQueue}, {name: "kept", unit: ratio}, {name: "target", unit: ratio},
				{name: "budget left", unit: ratio, steps: falling(0.5, 0)}}},
		}},
	},
}
