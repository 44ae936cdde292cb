package dashboards

// An Alert is a rule. Those with Expr are asked of the programs' own metrics, by Prometheus or
// by Grafana; those with SQL are asked of the store, by Grafana alone.
type Alert struct {
	Name     string // docs/alerts.md has a section of this name
	Group    string
	Expr     string // PromQL; each series that it gives is an alert of its own
	SQL      string // section of alerts.sql: labels (text) and one number in each row
	Op       string // > or <, against At
	At       float64
	For      string // how long it must hold
	Severity string // page: somebody must look now; ticket: somebody must look today
	Summary  string // {{ $labels.NAME }} is a label of the series, or a column of the row
	Page     string // dashboard that shows it
	Absent   bool   // no answer is an alert, too
}

// alertRange is how much of the past a rule in SQL sees, in seconds.
const alertRange = 3600

// Alerts are the rules, in the order of the runbook.
var Alerts = []Alert{
	{Name: "SextantRecordsLost", Group: "balance", SQL: "records_lost", Op: ">", For: "5m", Severity: "page", Page: "sextant-pipeline",
		Summary: "The store lacks records of {{ $labels.node }} that its agent sent."},
	{Name: "SextantSamplesDuplicate", Group: "balance", SQL: "samples_duplicate", Op: ">", For: "10m", Severity: "page", Page: "sextant-pipeline",
		Summary: "A reader finds samples of {{ $labels.node }} that the ledger does not account for."},
	{Name: "SextantSamplesMissing", Group: "balance", SQL: "samples_missing", Op: ">", For: "10m", Severity: "page", Page: "sextant-pipeline",
		Summary: "The ledger claims samples of {{ $labels.node }} that no reader finds."},
	{Name: "SextantKafkaRecordsLost", Group: "balance", Expr: `sum by (reason) (increase(sextant_kafka_lost_records_total[15m]))`, Op: ">", Severity: "page", Page: "sextant-pipeline",
		Summary: "Records in Kafka could not be read: {{ $labels.reason }}."},
	{Name: "SextantDeadLetters", Group: "balance", Expr: `sum by (what) (` +
		`label_replace(increase(sextant_pipeline_items_total{item="record_dead"}[15m]), "what", "samples", "job", ".*") or ` +
		`label_replace(increase(sextant_inventory_documents_total{result="dead"}[15m]), "what", "inventory", "job", ".*") or ` +
		`label_replace(increase(sextant_tasks_events_total{result="dead"}[15m]), "what", "task events", "job", ".*"))`,
		Op: ">", Severity: "ticket", Page: "sextant-pipeline", Summary: "Records of {{ $labels.what }} can never be read and are in the dead-letter topic."},

	{Name: "SextantProgramDown", Group: "programs", Expr: `min by (job, instance) (up{job=~"sextant.*"})`, Op: "<", At: 1, For: "2m", Severity: "page", Page: "sextant-pipeline", Absent: true,
		Summary: "{{ $labels.instance }} does not answer."},
	{Name: "SextantPipelineBehind", Group: "pipeline", Expr: `time() - min(sextant_pipeline_watermark_timestamp_seconds)`, Op: ">", At: 120, For: "3m", Severity: "page", Page: "sextant-pipeline",
		Summary: "Event time of the pipeline is more than two minutes behind the clock."},
	{Name: "SextantPipelineLag", Group: "pipeline", Expr: `sum(sextant_kafka_lag_records) - sum(sextant_kafka_lag_records offset 10m)`, Op: ">", At: 10000, For: "10m", Severity: "ticket", Page: "sextant-pipeline",
		Summary: "The pipeline reads more slowly than agents write."},
	{Name: "SextantClickHouseInsertsFail", Group: "pipeline", Expr: `sum by (table) (increase(sextant_clickhouse_retries_total[5m]))`, Op: ">", At: 3, For: "5m", Severity: "page", Page: "sextant-pipeline",
		Summary: "ClickHouse does not take rows of {{ $labels.table }}; they are tried again."},
	{Name: "SextantClickHouseRefuses", Group: "pipeline", Expr: `sum(increase(sextant_clickhouse_refused_batches_total[15m]))`, Op: ">", Severity: "page", Page: "sextant-pipeline",
		Summary: "ClickHouse refuses rows for good."},

	{Name: "SextantSpoolFilling", Group: "agents", Expr: `max by (node, instance) (sextant_spool_bytes / sextant_spool_limit_bytes)`, Op: ">", At: 0.5, For: "5m", Severity: "ticket", Page: "sextant-pipeline",
		Summary: "The spool of {{ $labels.node }}{{ $labels.instance }} is more than half full."},
	{Name: "SextantSpoolDropping", Group: "agents", Expr: `sum by (node, instance, reason) (increase(sextant_spool_dropped_total[15m]))`, Op: ">", Severity: "page", Page: "sextant-pipeline",
		Summary: "An agent gives records up: {{ $labels.reason }}."},
	{Name: "SextantBrokerAway", Group: "agents", Expr: `min by (node, instance) (sextant_ship_broker_up)`, Op: "<", At: 1, For: "5m", Severity: "ticket", Page: "sextant-pipeline",
		Summary: "Kafka does not take records of {{ $labels.node }}{{ $labels.instance }}; they wait on disk."},
	{Name: "SextantScrapesFail", Group: "agents", Expr: `sum by (job) (rate(sextant_agent_scrapes_total{state="failed"}[10m])) / sum by (job) (rate(sextant_agent_scrapes_total[10m]))`,
		Op: ">", At: 0.1, For: "10m", Severity: "ticket", Page: "sextant-pipeline", Summary: "More than a tenth of the scrapes of {{ $labels.job }} fail."},
	{Name: "SextantNodesSilent", Group: "agents", SQL: "nodes_silent", Op: ">", At: 120, For: "1m", Severity: "ticket", Page: "sextant-fleet",
		Summary: "Nothing comes from {{ $labels.node }}."},

	{Name: "SextantFeaturesStale", Group: "features", Expr: `max by (view) (sextant_online_newest_tick_age_seconds)`, Op: ">", At: 90, For: "2m", Severity: "page", Page: "sextant-features",
		Summary: "The newest served row of {{ $labels.view }} is older than 90 s."},
	{Name: "SextantRefreshFails", Group: "features", Expr: `sum(increase(sextant_online_refresh_errors_total[5m]))`, Op: ">", At: 3, For: "5m", Severity: "ticket", Page: "sextant-features",
		Summary: "The feature API cannot read ClickHouse; it serves what it has."},
	{Name: "SextantFeatureFaults", Group: "features", Expr: `sum by (view, feature, reason) (increase(sextant_pipeline_feature_faults_total[15m]))`, Op: ">", For: "15m", Severity: "ticket", Page: "sextant-features",
		Summary: "{{ $labels.view }}:{{ $labels.feature }} is NULL: {{ $labels.reason }}."},
	{Name: "SextantDeriveFails", Group: "features", Expr: `sum by (job) (increase(sextant_derive_failures_total[15m]))`, Op: ">", At: 2, Severity: "ticket", Page: "sextant-features",
		Summary: "ClickHouse does not evaluate {{ $labels.job }}."},
	{Name: "SextantQualityFalling", Group: "features", Expr: `(sum by (flag) (rate(sextant_pipeline_sample_flags_total{flag=~"blank|out_of_range|contradiction|frozen|partial|retimed|stale"}[15m])) ` +
		`/ on () group_left () sum(rate(sextant_pipeline_items_total{item="sample"}[15m])) > 2 * (sum by (flag) (rate(sextant_pipeline_sample_flags_total[6h])) ` +
		`/ on () group_left () sum(rate(sextant_pipeline_items_total{item="sample"}[6h]))))`,
		Op: ">", At: 0.001, For: "15m", Severity: "ticket", Page: "sextant-features", Summary: "Samples with the flag {{ $labels.flag }} are twice as many as over the last six hours."},

	{Name: "SextantDeviceFault", Group: "devices", SQL: "device_fault", Op: ">", Severity: "ticket", Page: "sextant-accelerators",
		Summary: "{{ $labels.vendor }} device {{ $labels.uid }} on {{ $labels.node }} had the fault {{ $labels.code }}."},
	{Name: "SextantDeviceUnhealthy", Group: "devices", SQL: "device_unhealthy", Op: "<", At: 1, For: "5m", Severity: "page", Page: "sextant-accelerators",
		Summary: "Device {{ $labels.uid }} on {{ $labels.node }} is not healthy."},
	{Name: "SextantBudgetBurns", Group: "promises", SQL: "budget_burns", Op: ">", At: 0.25, For: "5m", Severity: "page", Page: "sextant-sla",
		Summary: "Tenant {{ $labels.tenant }} used more than a quarter of its 24-hour error budget within an hour."},
	{Name: "SextantBudgetSpent", Group: "promises", SQL: "budget_left", Op: "<", For: "15m", Severity: "ticket", Page: "sextant-sla",
		Summary: "Tenant {{ $labels.tenant }} has overdrawn its 24-hour error budget."},
}
