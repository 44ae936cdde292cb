package dashboards

var accelerator = page{
	uid: "sextant-accelerators", title: "Sextant / Accelerators", file: "accelerators", from: "now-1h", refresh: "30s",
	about:       "Accelerators of all vendors together: the same reading has the same name and unit for each.",
	variables:   []variable{simulated, vendors, models, nodes},
	annotations: []annotation{faults},
	groups: []group{
		{"Now", []panel{
			{kind: number, title: "Accelerators", width: 6, unit: count, sql: "accelerators", about: "Accelerators with rows in the time range."},
			{kind: number, title: "Busy", width: 6, unit: ratio, sql: "busy_now", about: "Mean share of time in which an accelerator was busy, over the last minute of the time range."},
			{kind: number, title: "Power", width: 6, unit: watts, sql: "power_now", about: "Power draw of all together."},
			{kind: number, title: "Not healthy", width: 6, unit: count, sql: "unhealthy", steps: some, about: "Accelerators that their own health check does not call healthy. Those without a check are not counted."},
		}},
		{"Work", []panel{
			{title: "Busy, by model", width: 12, unit: ratio, max: 1, sql: "busy", label: "model", link: toModel, about: "Mean share of time in which an accelerator was busy, over a minute."},
			{title: "Held and idle", width: 12, unit: count, sql: "idle_held", about: "Accelerators that an owner holds, and of those the ones that were busy for less than 5 % of five minutes: given out and not used."},
			{title: "Memory in use, by model", width: 12, unit: ratio, max: 1, sql: "memory", label: "model", steps: rising(0.9, 0.98), about: "Mean share of the device's memory in use."},
			{title: "Memory bandwidth, by model", width: 12, unit: ratio, max: 1, sql: "bandwidth", label: "model",
				about: "Mean share of the memory bandwidth in use, over a minute, where the vendor tells. Near 1 with a busy device: the work is bound by memory."},
		}},
		{"Power and heat", []panel{
			{title: "Power, by model", width: 8, unit: watts, sql: "power", label: "model", about: "Mean power draw of a device."},
			{title: "Hottest, by model", width: 8, unit: celsius, sql: "temperature", label: "model", steps: rising(80, 90), lines: true, about: "Highest temperature of a core."},
			{title: "Throttled, by model", width: 8, unit: ratio, sql: "throttled", label: "model", steps: rising(0.05, 0.2), about: "Mean share of time with lowered clocks, over a minute, where the vendor tells."},
		}},
		{"Traffic and errors", []panel{
			{title: "Traffic", width: 12, unit: rate, sql: "fabric", about: "Bytes over the links between accelerators, and over PCIe, of all devices together, where the vendor tells."},
			{title: "Memory errors", width: 12, unit: count, sql: "memory_errors", steps: []step{{color: calm}, {1, bad}},
				about: "Corrected and uncorrected memory errors over 15 minutes, at the end of each step. An uncorrected one ends the work on the device."},
		}},
		{"Devices", []panel{
			{kind: rows, title: "Faults", width: 24, sql: "faults", about: "Fault codes in the time range: XID, Ascend's error codes, AFID. The newest first.", fields: []field{
				{name: "node", link: toNode}, {name: "vendor", link: toVendor}, {name: "events", unit: count, steps: some},
				{name: "first", unit: instant}, {name: "last", unit: when}}},
			{kind: rows, title: "Devices, the worst first", width: 24, tall: 12, sql: "worst", about: "The newest row of each device, by health, faults, throttling and heat. At most 200.", fields: []field{
				{name: "node", link: toNode}, {name: "vendor", link: toVendor}, {name: "model", link: toModel},
				{name: "health", unit: ratio, steps: falling(1, 0.5)}, {name: "faults", unit: count, steps: some},
				{name: "memory errors", unit: count, steps: some}, {name: "throttled", unit: ratio, steps: rising(0.05, 0.2)},
				{name: "temperature", unit: celsius, steps: rising(80, 90)}, {name: "busy", unit: ratio}, {name: "memory", unit: ratio}}},
			{kind: rows, title: "Slices", width: 24, sql: "slices", about: "MIG instances, vNPUs and partitions now: what each was given, and what it uses where the source measures the slice itself.", fields: []field{
				{name: "node", link: toNode}, {name: "memory", unit: byteSize}, {name: "used", unit: byteSize}, {name: "busy", unit: ratio}}},
		}},
	},
}
