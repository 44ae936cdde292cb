-- Promises to tasks: which were broken, whose, and how it stood there at the time.

-- name: broken
SELECT count() AS broken
FROM sla_events FINAL
WHERE $__timeFilter(breached) AND {{promises}}

-- name: tasks_broken
SELECT uniqExact(cluster, task) AS tasks
FROM sla_events FINAL
WHERE $__timeFilter(breached) AND {{promises}}

-- name: overdue
SELECT sum(overdue) AS overdue
FROM
(
    SELECT argMax(overdue_tasks, tick) AS overdue
    FROM cluster_business
    WHERE tick > $__toTime - INTERVAL 2 MINUTE AND tick <= $__toTime AND {{all "cluster" "cluster"}}
    GROUP BY cluster
)

-- name: budget_least
SELECT min(budget) AS budget
FROM
(
    SELECT argMax(slo_error_budget_24h, tick) AS budget
    FROM tenant_business
    WHERE tick > $__toTime - INTERVAL 2 MINUTE AND tick <= $__toTime AND {{all "tenant" "tenant"}}
    GROUP BY tenant
)

-- name: by_kind
SELECT $__timeInterval(breached) AS time, kind, count() AS broken
FROM sla_events FINAL
WHERE $__timeFilter(breached) AND {{promises}}
GROUP BY time, kind
ORDER BY time

-- name: by_tenant
SELECT $__timeInterval(breached) AS time, tenant, count() AS broken
FROM sla_events FINAL
WHERE $__timeFilter(breached) AND {{promises}}
GROUP BY time, tenant
ORDER BY time

-- name: budget
SELECT $__timeInterval(tick) AS time, tenant, min(slo_error_budget_24h) AS budget
FROM tenant_business
WHERE $__timeFilter(tick) AND slo_error_budget_24h IS NOT NULL AND {{all "tenant" "tenant"}}
GROUP BY time, tenant
ORDER BY time

-- name: broken_ratio
SELECT $__timeInterval(tick) AS time, queue, max(slo_broken_ratio_24h) AS broken
FROM queue_business
WHERE $__timeFilter(tick) AND slo_broken_ratio_24h IS NOT NULL AND {{all "queue" "queue"}}
GROUP BY time, queue
ORDER BY time

-- name: causes
SELECT
    kind, tenant, queue, type, count() AS broken,
    quantile(0.5)(measured - promised) AS "over by p50",
    quantile(0.95)(measured - promised) AS "over by p95",
    avg(queue_length) AS "queue length",
    avg(evictions) AS evictions
FROM sla_events FINAL
WHERE $__timeFilter(breached) AND {{promises}}
GROUP BY kind, tenant, queue, type
ORDER BY broken DESC, kind, tenant, queue, type
LIMIT 200

-- name: nodes
SELECT
    node, count() AS broken, avg(node_tasks) AS tasks, avg(node_cpu_busy) AS cpu, avg(node_memory_used) AS memory, avg(device_busy) AS busy
FROM sla_events FINAL
WHERE $__timeFilter(breached) AND node != '' AND {{promises}}
GROUP BY node
ORDER BY broken DESC, node
LIMIT 200

-- name: newest
SELECT breached, kind, task, tenant, queue, state, node, promised, measured, queue_length AS "queue length", evictions
FROM sla_events FINAL
WHERE $__timeFilter(breached) AND {{promises}}
ORDER BY breached DESC, task, kind
LIMIT 200
