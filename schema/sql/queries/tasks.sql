SELECT cluster, task, name, state, tenant, queue, node, changed, toFloat64(ifNull(queue_seconds, nan)), toFloat64(ifNull(run_seconds, nan)), reason
FROM {{.DB}}.tasks
WHERE (? = '' OR state = ?) AND (? = '' OR tenant = ?)
ORDER BY changed DESC, cluster, task
LIMIT ?
