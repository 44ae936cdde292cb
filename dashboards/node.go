package dashboards

var node = page{
	uid: "sextant-node", title: "Sextant / Node", file: "node", from: "now-1h", refresh: "30s",
	about:       "One node: what it is, what it does, what runs on it, what was wrong.",
	variables:   []variable{oneNode},
	annotations: []annotation{nodeFaults, nodePromises},
	groups: []group{
		{"What it is", []panel{
			{kind: rows, title: "Inventory", width: 24, tall: 4, sql: "facts", about: "The node's newest inventory. Empty where its agent sends none.", fields: []field{
				{name: "memory", unit: byteSize}, {name: "since", unit: when}}},
		}},
		{"Host", []panel{
			{title: "CPU", width: 8, unit: ratio, max: 1, sql: "cpu", steps: rising(0.8, 0.95), lines: true, about: "Share of CPU time that was busy, over three windows."},
			{title: "Load per core", width: 8, unit: count, sql: "load", steps: rising(1, 2), lines: true, about: "Load average over the number of CPUs. Above 1 something waits for a CPU, or for the disk."},
			{title: "Memory and file systems", width: 8, unit: ratio, max: 1, sql: "memory", steps: rising(0.85, 0.95), lines: true, about: "Share of memory in use, and of the fullest file system."},
			{title: "Disk", width: 8, unit: rate, sql: "disk", about: "Bytes read from and written to all disks, over 30 s."},
			{title: "Network", width: 8, unit: rate, sql: "network", about: "Bytes received and transmitted by physical interfaces, over 30 s."},
			{title: "Pressure", width: 8, unit: ratio, sql: "pressure", steps: rising(0.1, 0.3), lines: true,
				about: "Share of time in which some task waited for CPU, memory or disk (pressure stall information), over a minute. Needs a kernel that counts it."},
		}},
		{"Accelerators", []panel{
			{title: "Busy", width: 12, unit: ratio, max: 1, sql: "busy", label: "uid", about: "Share of time in which each accelerator was busy, over 30 s."},
			{title: "Memory", width: 12, unit: ratio, max: 1, sql: "device_memory", label: "uid", steps: rising(0.9, 0.98), about: "Share of each accelerator's memory in use."},
			{title: "Power", width: 12, unit: watts, sql: "power", label: "uid", about: "Power draw of each accelerator."},
			{title: "Temperature", width: 12, unit: celsius, sql: "temperature", label: "uid", steps: rising(80, 90), lines: true, about: "Temperature of each accelerator's core."},
		}},
		{"Tasks", []panel{
			{title: "Asked for", width: 8, unit: ratio, sql: "allocation", about: "What the tasks that are bound to the node asked for, over what it has. Above 1 the node is overcommitted."},
			{kind: rows, title: "Tasks", width: 16, tall: 8, sql: "tasks", about: "Tasks that are bound to the node now.", fields: []field{
				{name: "tenant", link: toTenant}, {name: "queue", link: toQueue}, {name: "waited", unit: seconds}, {name: "running", unit: seconds}}},
		}},
		{"What was wrong", []panel{
			{kind: rows, title: "Device faults", width: 12, sql: "faults", about: "Fault codes of the node's accelerators in the time range.", fields: []field{
				{name: "vendor", link: toVendor}, {name: "events", unit: count, steps: some}, {name: "first", unit: instant}, {name: "last", unit: when}}},
			{kind: rows, title: "Quality flags", width: 12, sql: "flags", about: "What was wrong with the node's readings in the time range, by device and metric, or by target. docs/quality.md says what each flag means.",
				fields: []field{{name: "scrapes", unit: count}, {name: "first", unit: instant}, {name: "last", unit: when}}},
			{title: "Delay of telemetry", width: 12, tall: 10, unit: seconds, sql: "freshness", steps: rising(5, 30), lines: true,
				about: "How long a scrape of this node waited for Kafka, and then for ClickHouse."},
			{kind: rows, title: "Changes of the inventory", width: 12, sql: "changes", about: "Facts of the node that changed in the time range: a driver, a slice, a link, a disk.", fields: []field{
				{name: "time", unit: instant}}},
		}},
	},
}
