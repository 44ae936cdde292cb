-- Where the hours of accelerators went, and which promises were kept, by whole hours: the views
-- of reports (docs/reports.md). The newest hour is of what came so far.

-- name: capacity
SELECT sum(capacity_hours) AS hours
FROM utilization(from = $__fromTime, to = $__toTime)
WHERE {{hours}}

-- name: allocated
SELECT sum(allocated_hours) / nullIf(sum(capacity_hours), 0) AS allocated
FROM utilization(from = $__fromTime, to = $__toTime)
WHERE {{hours}}

-- name: used
SELECT sum(used_hours) / nullIf(sum(observed_hours), 0) AS used
FROM utilization(from = $__fromTime, to = $__toTime)
WHERE {{hours}}

-- name: idle
SELECT sum(idle_allocated_hours) AS hours
FROM utilization(from = $__fromTime, to = $__toTime)
WHERE {{hours}}

-- name: stranded
SELECT sum(stranded_hours) AS hours
FROM utilization(from = $__fromTime, to = $__toTime)
WHERE {{hours}}

-- name: energy
SELECT sum(energy_kwh) AS energy
FROM utilization(from = $__fromTime, to = $__toTime)
WHERE {{hours}}

-- name: by_hour
SELECT
    hour AS time,
    sum(allocated_hours) AS held,
    sum(idle_allocated_hours) AS "held and idle",
    sum(used_hours) AS busy,
    sum(capacity_hours) AS there
FROM utilization(from = $__fromTime, to = $__toTime)
WHERE {{hours}}
GROUP BY time
ORDER BY time

-- name: by_model
SELECT
    vendor, model,
    sum(capacity_hours) AS there,
    sum(allocated_hours) / nullIf(sum(capacity_hours), 0) AS held,
    sum(used_hours) / nullIf(sum(observed_hours), 0) AS busy,
    sum(idle_allocated_hours) AS "held and idle",
    sum(stranded_hours) AS stranded,
    sum(energy_kwh) AS energy
FROM utilization(from = $__fromTime, to = $__toTime)
WHERE {{hours}}
GROUP BY vendor, model
ORDER BY there DESC, vendor, model
LIMIT 200

-- name: by_tenant
SELECT
    tenant, queue,
    sum(allocated_hours) AS held,
    sum(used_hours) / nullIf(sum(observed_hours), 0) AS busy,
    sum(idle_allocated_hours) AS "held and idle",
    sum(energy_kwh) AS energy
FROM utilization(from = $__fromTime, to = $__toTime)
WHERE tenant != '' AND {{hours}} AND {{all "tenant" "tenant"}} AND {{all "queue" "queue"}}
GROUP BY tenant, queue
ORDER BY held DESC, tenant, queue
LIMIT 200

-- name: causes
SELECT cause, tenant, queue, count() AS violations, uniqExact(task) AS tasks,
    avg(node_cpu_busy_ratio) AS cpu, avg(device_busy_ratio) AS busy
FROM sla_violations(from = $__fromTime, to = $__toTime)
WHERE {{simulated "simulated"}} AND {{all "cluster" "cluster"}} AND {{all "tenant" "tenant"}} AND {{all "queue" "queue"}}
GROUP BY cause, tenant, queue
ORDER BY violations DESC, cause, tenant, queue
LIMIT 200

-- name: budgets
SELECT tenant, queue, promise, decided, broken, kept_ratio AS kept, target_ratio AS target, budget_left_ratio AS "budget left", burn_rate AS burn, burn_1h AS "burn 1 h"
FROM error_budgets(from = $__fromTime, to = $__toTime)
WHERE {{simulated "simulated"}} AND {{all "cluster" "cluster"}} AND {{all "tenant" "tenant"}} AND {{all "queue" "queue"}}
ORDER BY "budget left", tenant, queue, promise
LIMIT 200
