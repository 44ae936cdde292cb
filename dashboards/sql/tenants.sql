-- Tenants and queues: who holds what, who waits for what.

-- name: allocated
SELECT $__timeInterval(tick) AS time, tenant, avg(accelerators_allocated) AS accelerators
FROM tenant_business
WHERE $__timeFilter(tick) AND {{all "tenant" "tenant"}}
GROUP BY time, tenant
ORDER BY time

-- name: asked
SELECT $__timeInterval(tick) AS time, tenant, avg(accelerators_waiting) AS accelerators
FROM tenant_business
WHERE $__timeFilter(tick) AND {{all "tenant" "tenant"}}
GROUP BY time, tenant
ORDER BY time

-- name: cpu
SELECT $__timeInterval(tick) AS time, tenant, avg(cpu_allocated_cores) AS cores
FROM tenant_business
WHERE $__timeFilter(tick) AND {{all "tenant" "tenant"}}
GROUP BY time, tenant
ORDER BY time

-- name: memory
SELECT $__timeInterval(tick) AS time, tenant, avg(memory_allocated_bytes) AS memory
FROM tenant_business
WHERE $__timeFilter(tick) AND {{all "tenant" "tenant"}}
GROUP BY time, tenant
ORDER BY time

-- name: queue_length
SELECT $__timeInterval(tick) AS time, queue, avg(waiting_tasks) AS tasks
FROM queue_business
WHERE $__timeFilter(tick) AND {{all "queue" "queue"}}
GROUP BY time, queue
ORDER BY time

-- name: queue_wait
SELECT $__timeInterval(tick) AS time, queue, max(queue_wait_p95_seconds_1h) AS wait
FROM queue_business
WHERE $__timeFilter(tick) AND {{all "queue" "queue"}}
GROUP BY time, queue
ORDER BY time

-- name: longest_wait
SELECT $__timeInterval(tick) AS time, queue, max(longest_wait_seconds) AS wait
FROM queue_business
WHERE $__timeFilter(tick) AND {{all "queue" "queue"}}
GROUP BY time, queue
ORDER BY time

-- name: failures
SELECT $__timeInterval(tick) AS time, tenant, max(failure_ratio_1h) AS failed
FROM tenant_business
WHERE $__timeFilter(tick) AND {{all "tenant" "tenant"}}
GROUP BY time, tenant
ORDER BY time

-- name: tenants
SELECT
    tenant,
    argMax(running_tasks, tick) AS running,
    argMax(waiting_tasks, tick) AS waiting,
    argMax(accelerators_allocated, tick) AS accelerators,
    argMax(accelerator_share, tick) AS share,
    argMax(accelerators_waiting, tick) AS "accelerators waiting",
    argMax(queue_wait_p95_seconds_1h, tick) AS "wait p95",
    argMax(finished_tasks_1h, tick) AS finished,
    argMax(failed_tasks_1h, tick) AS failed,
    argMax(evicted_tasks_1h, tick) AS evicted,
    argMax(slo_error_budget_24h, tick) AS budget
FROM tenant_business
WHERE tick > $__toTime - INTERVAL 2 MINUTE AND tick <= $__toTime AND {{all "tenant" "tenant"}}
GROUP BY tenant
ORDER BY accelerators DESC, tenant
LIMIT 200

-- name: usage
SELECT
    cluster, tenant, queue, running, waiting, cpu_cores AS cores, memory_bytes AS memory, accelerators,
    accelerators_waiting AS "accelerators waiting", longest_wait_seconds AS "longest wait"
FROM tasks_usage
WHERE {{all "cluster" "cluster"}} AND {{all "tenant" "tenant"}} AND {{all "queue" "queue"}} AND running + waiting > 0
ORDER BY accelerators DESC, tenant, queue
LIMIT 200

-- name: times
SELECT
    tenant, queue, type, tasks, placed,
    queue_seconds_p50 AS "wait p50", queue_seconds_p95 AS "wait p95",
    finished, failed, run_seconds_p50 AS "run p50", run_seconds_p95 AS "run p95"
FROM tasks_times
WHERE {{all "cluster" "cluster"}} AND {{all "tenant" "tenant"}} AND {{all "queue" "queue"}}
ORDER BY tasks DESC, tenant, queue, type
LIMIT 200
