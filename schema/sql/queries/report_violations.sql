SELECT
    {{.Groups}}
    count() AS violations, uniqExact(cluster, task) AS tasks, avgOrNull(measured_seconds - promised_seconds) AS overrun_seconds, avgOrNull(queue_length) AS queue_length,
    avgOrNull(node_tasks) AS node_tasks, avgOrNull(node_cpu_busy_ratio) AS node_cpu_busy_ratio, avgOrNull(node_memory_used_ratio) AS node_memory_used_ratio,
    avgOrNull(device_busy_ratio) AS device_busy_ratio
FROM (SELECT * FROM {{.DB}}.sla_violations(from = {from:DateTime64(3, 'UTC')}, to = {to:DateTime64(3, 'UTC')})) AS u
{{.Where}}
{{.GroupBy}}
ORDER BY violations DESC{{.Tie}}
{{.Limit}}
