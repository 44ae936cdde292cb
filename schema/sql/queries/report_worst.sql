SELECT
    time, cause, tenant, queue, type, task, node, promised_seconds, measured_seconds, queue_length, node_tasks, node_cpu_busy_ratio, device_busy_ratio, reason
FROM (SELECT * FROM {{.DB}}.sla_violations(from = {from:DateTime64(3, 'UTC')}, to = {to:DateTime64(3, 'UTC')})) AS u
{{.Where}}
ORDER BY measured_seconds / promised_seconds DESC NULLS LAST, time DESC, task
{{.Limit}}
