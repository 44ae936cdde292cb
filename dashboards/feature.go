package dashboards

var featurePage = page{
	uid: "sextant-features", title: "Sextant / Features", file: "features", from: "now-1h", refresh: "30s",
	about:       "Features: how fresh their rows are, what is missing in them, which definitions are in force.",
	variables:   []variable{simulated},
	annotations: nil,
	groups: []group{
		{"Freshness", []panel{
			{title: "Tick to known", width: 12, unit: seconds, sql: "delay", label: "view", steps: rising(15, 60), lines: true,
				about: "How long after its tick a row could be known: 99th percentile by view. It is the lateness and the time of computing."},
			{title: "Age of what is served", width: 12, unit: seconds, steps: rising(30, 60), lines: true,
				prom:  []metric{{`max by (view) (sextant_online_newest_tick_age_seconds)`, "{{view}}"}},
				about: "Age of the newest tick that the feature API has in memory, by view. The older of two replicas counts."},
			{title: "Tick to stored, views of SQL", width: 12, unit: seconds, sql: "derived", label: "view", steps: rising(20, 60), lines: true, about: "How long after its tick a view that ClickHouse evaluates was stored."},
			{title: "Rows per tick", width: 12, unit: count, sql: "rows", label: "view", about: "Rows of each view per tick: how many entities have features."},
		}},
		{"Quality", []panel{
			{title: "Missing values", width: 12, unit: ratio, max: 1, sql: "nulls", label: "view", about: "Share of the values that are NULL, by view. A step up is a source that stopped; a constant share is what the hardware does not tell."},
			{title: "Rows with a quality flag", width: 12, unit: ratio, max: 1, sql: "flagged", label: "view", steps: rising(0.1, 0.5), about: "Share of the rows whose samples had a flag since the tick before."},
			{title: "Series with a quality flag", width: 12, unit: count, sql: "flags", label: "flag", stack: true, about: "Series and targets with each flag in force. docs/quality.md says what each means."},
			{title: "Feature faults", width: 12, unit: perSec, prom: []metric{{`sum by (view, reason) (rate(sextant_pipeline_feature_faults_total[5m]))`, "{{view}} {{reason}}"}},
				about: "Values that are NULL for another reason than missing samples: out of range, two results, extra labels, a query that failed."},
			{kind: rows, title: "Flagged series", width: 24, sql: "flagged_series", about: "What was wrong in the time range, the newest first. At most 200.", fields: []field{
				{name: "node", link: toNode}, {name: "scrapes", unit: count}, {name: "first", unit: instant}, {name: "last", unit: when}}},
		}},
		{"Late samples", []panel{
			{title: "Late samples", width: 18, unit: count, sql: "late", counts: true, about: "Samples that came after their tick was closed: stored, and in no row until it is repaired."},
			{kind: number, title: "Hours to repair", width: 6, tall: 8, unit: count, sql: "repairs", steps: rising(100, 1000), about: "Hours of nodes whose late samples are in no corrected row yet, of the time range."},
		}},
		{"Definitions", []panel{
			{kind: rows, title: "Views", width: 12, sql: "views", about: "Feature views that were applied.", fields: []field{{name: "interval", unit: seconds}, {name: "ttl", unit: seconds}}},
			{kind: rows, title: "Changes", width: 12, sql: "registry", about: "Views and services by the newest event: in force, or retired, when and by whom.", fields: []field{{name: "changed", unit: instant}}},
		}},
	},
}
