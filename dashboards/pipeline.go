package dashboards

var pipeline = page{
	uid: "sextant-pipeline", title: "Sextant / Pipeline", file: "pipeline", from: "now-1h", refresh: "1m",
	about:       "The line itself: what came, what was lost, how far behind it is. The metrics of the programs are scraped by an agent and asked in PromQL.",
	variables:   []variable{simulated},
	annotations: nil,
	groups: []group{
		{"Balance", []panel{
			{kind: number, title: "Lost records", width: 4, unit: count, sql: "lost", steps: none, about: "Records of the time range that an agent numbered, did not give up, and the store lacks. Must be 0. sextant ledger has the balance of all that is kept."},
			{kind: number, title: "Missing samples", width: 4, unit: count, sql: "missing", steps: none,
				about: "Samples that the ledger says were stored, and a reader does not find, of the hours of the time range. Must be 0."},
			{kind: number, title: "Duplicate samples", width: 4, unit: count, sql: "duplicate", steps: none,
				about: "Samples that a reader finds beyond what the ledger accounts for, of the hours of the time range. Must be 0 but for the second between the insert of samples and of their ledger rows."},
			{kind: number, title: "Held by agents", width: 4, unit: count, sql: "held", steps: rising(100, 10000), about: "Records that agents still hold: after an outage fresh ones go first."},
			{kind: number, title: "Given up", width: 4, unit: count, sql: "given_up", steps: some, about: "Records that agents dropped past their disk cap, or that were too large to send, in the time range."},
			{kind: number, title: "Dead letters", width: 4, unit: count, sql: "dead", steps: some, about: "Records of the time range that can never be read. The topic telemetry.deadletter has them."},
		}},
		{"Flow", []panel{
			{title: "Samples stored", width: 12, unit: perSec, sql: "samples", about: "Samples per second, by the time of their scrape. The newest step is not complete."},
			{title: "Scrapes", width: 12, unit: count, sql: "scrapes", label: "outcome", stack: true, counts: true, about: "Scrapes in each step by how complete they were."},
			{title: "Scrape to Kafka", width: 12, unit: seconds, sql: "transport", steps: rising(5, 30), lines: true, about: "How long a scrape waited in its agent and on the way."},
			{title: "Kafka to ClickHouse", width: 12, unit: seconds, sql: "storage", steps: rising(10, 60), lines: true, about: "How long a record waited in Kafka and in the pipeline."},
		}},
		{"Agents", []panel{
			{title: "Spool", width: 8, unit: ratio, max: 1, steps: rising(0.5, 0.9), lines: true, prom: []metric{{`max by (node) (sextant_spool_bytes / sextant_spool_limit_bytes)`, "{{node}}"}},
				about: "How full the agents' queues on disk are. At 1 the oldest is dropped."},
			{title: "Scrapes that failed", width: 8, unit: perSec, prom: []metric{{`sum by (job) (rate(sextant_agent_scrapes_total{state="failed"}[5m]))`, "{{job}}"}},
				about: "Scrapes per second that got nothing, by job."},
			{title: "Records sent", width: 8, unit: perSec, prom: []metric{{`sum(rate(sextant_ship_sent_total[5m]))`, "acknowledged"}, {`sum(rate(sextant_ship_retried_total[5m]))`, "sent again"}},
				about: "Records that Kafka acknowledged, and those that it did not and that go again."},
		}},
		{"Pipeline and store", []panel{
			{title: "Lag", width: 8, unit: count, prom: []metric{{`max by (partition) (sextant_kafka_lag_records)`, "partition {{partition}}"}}, about: "Records behind the end of each partition."},
			{title: "Behind now", width: 8, unit: seconds, signed: true, steps: rising(30, 120), lines: true, prom: []metric{{`time() - max by (partition) (sextant_pipeline_watermark_timestamp_seconds)`, "partition {{partition}}"}},
				about: "How far event time of each partition is behind the clock. A tick closes when event time reaches it."},
			{title: "Writes", width: 8, unit: seconds, prom: []metric{
				{`histogram_quantile(0.5, sum by (le) (rate(sextant_pipeline_write_duration_seconds_bucket[5m])))`, "p50"},
				{`histogram_quantile(0.99, sum by (le) (rate(sextant_pipeline_write_duration_seconds_bucket[5m])))`, "p99"}},
				about: "Time until a batch was durable in ClickHouse."},
			{title: "Rows stored, by table", width: 8, unit: perSec, prom: []metric{{`topk(12, sum by (table) (rate(sextant_clickhouse_rows_total[5m])))`, "{{table}}"}}, about: "Rows per second that ClickHouse acknowledged, the twelve largest tables."},
			{title: "Failures", width: 8, unit: perSec, prom: []metric{
				{`sum(rate(sextant_pipeline_write_failures_total[5m]))`, "writes that failed"},
				{`sum(rate(sextant_kafka_fetch_failures_total[5m]))`, "fetches that failed"},
				{`sum(rate(sextant_online_refresh_errors_total[5m]))`, "refreshes of the API that failed"}},
				about: "What failed and was tried again. A few around a restart are usual."},
			{title: "What became of items", width: 8, unit: perSec, prom: []metric{{`sum by (item) (rate(sextant_pipeline_items_total{item=~"record_dead|record_stale|sample_late|sample_refused|series_refused|series_collision"}[5m]))`, "{{item}}"}},
				about: "Records, samples and series that were not taken as they came."},
		}},
		{"Feature API", []panel{
			{title: "Requests", width: 8, unit: "reqps", prom: []metric{{`sum by (path, code) (rate(sextant_api_requests_total[5m]))`, "{{path}} {{code}}"}}, about: "Requests per second, by path and status."},
			{title: "Time of a request", width: 8, unit: seconds, prom: []metric{
				{`histogram_quantile(0.5, sum by (le) (rate(sextant_api_request_seconds_bucket[5m])))`, "p50"},
				{`histogram_quantile(0.99, sum by (le) (rate(sextant_api_request_seconds_bucket[5m])))`, "p99"}},
				about: "From the headers of a request to the last byte of the answer."},
			{title: "Values, by status", width: 8, unit: perSec, stack: true, prom: []metric{{`sum by (status) (rate(sextant_api_values_total[5m]))`, "{{status}}"}},
				about: "Feature values that were answered: present, NULL, unknown entity, or older than the view's TTL."},
		}},
		{"Ledger", []panel{
			{kind: rows, title: "Agents", width: 12, sql: "agents", about: "Each agent's records: what came, what it holds, what it gave up, what was lost, in the time range. An agent whose spool was made anew is a new one.", fields: []field{
				{name: "node", link: toNode}, {name: "lost", unit: count, steps: none}, {name: "given up", unit: count, steps: some}, {name: "held", unit: count}, {name: "newest scrape", unit: when}}},
			{kind: rows, title: "Samples, by hour", width: 12, sql: "audit", about: "What the ledger says was stored against what a reader finds, for the hours of the time range.", fields: []field{
				{name: "hour", unit: instant}, {name: "missing", unit: count, steps: none}, {name: "duplicate", unit: count, steps: none}}},
		}},
	},
}
