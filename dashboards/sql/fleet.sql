-- Fleet overview: all nodes and accelerators at a glance. A section is a panel's query.

-- name: nodes
SELECT uniqExact(node) AS nodes
FROM node_monitoring
WHERE $__timeFilter(tick) AND {{nodes}}

-- name: silent
SELECT count() AS silent
FROM
(
    SELECT node, max(tick) AS newest
    FROM node_monitoring
    WHERE $__timeFilter(tick) AND {{nodes}}
    GROUP BY node
    HAVING newest < $__toTime - INTERVAL 2 MINUTE
)

-- name: accelerators
SELECT uniqExact(node, uid) AS accelerators
FROM device_monitoring
WHERE $__timeFilter(tick) AND {{nodes}}

-- name: accelerators_busy
SELECT avg(busy) AS busy
FROM
(
    SELECT argMax(busy_ratio_1m, tick) AS busy
    FROM device_monitoring
    WHERE tick > $__toTime - INTERVAL 2 MINUTE AND tick <= $__toTime AND {{nodes}}
    GROUP BY node, uid
)

-- name: tasks_running
SELECT sum(running) AS running
FROM
(
    SELECT argMax(running_tasks, tick) AS running
    FROM cluster_business
    WHERE tick > $__toTime - INTERVAL 2 MINUTE AND tick <= $__toTime AND {{all "cluster" "cluster"}}
    GROUP BY cluster
)

-- name: tasks_waiting
SELECT sum(waiting) AS waiting
FROM
(
    SELECT argMax(waiting_tasks, tick) AS waiting
    FROM cluster_business
    WHERE tick > $__toTime - INTERVAL 2 MINUTE AND tick <= $__toTime AND {{all "cluster" "cluster"}}
    GROUP BY cluster
)

-- name: faults
SELECT sum(value) AS faults
FROM samples_labelled
WHERE series IN (SELECT id FROM series WHERE name = 'accel_fault_events' AND {{nodes}}) AND $__timeFilter(ts) AND usable

-- name: promises_broken
SELECT count() AS broken
FROM sla_events FINAL
WHERE $__timeFilter(breached) AND {{simulated "simulated"}} AND {{all "if(cluster = '', 'default', cluster)" "cluster"}}

-- name: cpu
SELECT
    $__timeInterval(tick) AS time,
    avg(cpu_utilization_1m) AS mean,
    quantile(0.95)(cpu_utilization_1m) AS p95,
    max(cpu_utilization_1m) AS max
FROM node_monitoring
WHERE $__timeFilter(tick) AND {{nodes}}
GROUP BY time
ORDER BY time

-- name: memory
SELECT
    $__timeInterval(tick) AS time,
    avg(memory_used_ratio) AS mean,
    quantile(0.95)(memory_used_ratio) AS p95,
    max(memory_used_ratio) AS max
FROM node_monitoring
WHERE $__timeFilter(tick) AND {{nodes}}
GROUP BY time
ORDER BY time

-- name: busy_by_vendor
SELECT $__timeInterval(tick) AS time, d.vendor AS vendor, avg(m.busy_ratio_1m) AS busy
FROM device_monitoring AS m
LEFT JOIN {{devices}} AS d ON d.node = m.node AND d.uid = m.uid
WHERE $__timeFilter(tick) AND {{nodes "m.node"}}
GROUP BY time, vendor
ORDER BY time

-- name: power_by_vendor
SELECT time, vendor, sum(power) AS power
FROM
(
    SELECT $__timeInterval(tick) AS time, d.vendor AS vendor, avg(m.power_watts) AS power
    FROM device_monitoring AS m
    LEFT JOIN {{devices}} AS d ON d.node = m.node AND d.uid = m.uid
    WHERE $__timeFilter(tick) AND {{nodes "m.node"}}
    GROUP BY time, vendor, m.node, m.uid
)
GROUP BY time, vendor
ORDER BY time

-- name: allocation
SELECT
    $__timeInterval(tick) AS time,
    cluster,
    avg(accelerator_allocated_ratio) AS allocated
FROM cluster_business
WHERE $__timeFilter(tick) AND {{all "cluster" "cluster"}}
GROUP BY time, cluster
ORDER BY time

-- name: fragmentation
SELECT
    $__timeInterval(tick) AS time,
    avg(if(accelerator_capacity > 0, ifNull(accelerator_fragmentation, 0), NULL)) AS fragmentation,
    avg(accelerators_on_empty_nodes_ratio) AS "on empty nodes"
FROM cluster_business
WHERE $__timeFilter(tick) AND {{all "cluster" "cluster"}}
GROUP BY time
ORDER BY time

-- name: models
SELECT vendor, model, count() AS accelerators, uniqExact(node) AS nodes, sum(memory_bytes) AS memory
FROM devices
WHERE {{simulated "simulated"}}
GROUP BY vendor, model
ORDER BY accelerators DESC, vendor, model
LIMIT 100

-- name: racks
SELECT
    v.zone AS zone, v.rack AS rack, count() AS nodes,
    avgOrNull(m.cpu) AS cpu, avgOrNull(m.memory) AS memory,
    sum(v.accelerators) AS accelerators,
    sum(b.held) / nullIf(sum(v.accelerators), 0) AS allocated
FROM nodes AS v
LEFT JOIN
(
    SELECT node, argMax(cpu_utilization_1m, tick) AS cpu, argMax(memory_used_ratio, tick) AS memory
    FROM node_monitoring
    WHERE tick > $__toTime - INTERVAL 2 MINUTE AND tick <= $__toTime
    GROUP BY node
) AS m ON m.node = v.node
LEFT JOIN
(
    SELECT node, argMax(accelerators_allocated, tick) AS held
    FROM node_business
    WHERE tick > $__toTime - INTERVAL 2 MINUTE AND tick <= $__toTime
    GROUP BY node
) AS b ON b.node = v.node
WHERE v.rack != '' AND {{simulated "v.simulated"}}
GROUP BY zone, rack
ORDER BY zone, rack
LIMIT 500

-- name: nodes_table
SELECT
    m.node AS node,
    argMax(m.cpu_utilization_1m, m.tick) AS cpu,
    argMax(m.memory_used_ratio, m.tick) AS memory,
    argMax(m.load_per_core_1m, m.tick) AS load,
    any(a.devices) AS accelerators,
    any(a.busy) AS busy,
    any(a.unhealthy) AS unhealthy,
    any(a.faults) AS faults,
    max(m.tick) AS newest
FROM node_monitoring AS m
LEFT JOIN
(
    SELECT
        node,
        argMax(devices, tick) AS devices,
        argMax(busy_mean_1m, tick) AS busy,
        argMax(unhealthy_devices, tick) AS unhealthy,
        argMax(faults_1h, tick) AS faults
    FROM node_accelerators
    WHERE tick > $__toTime - INTERVAL 2 MINUTE AND tick <= $__toTime
    GROUP BY node
) AS a ON a.node = m.node
WHERE m.tick > $__toTime - INTERVAL 2 MINUTE AND m.tick <= $__toTime AND {{nodes "m.node"}}
GROUP BY node
ORDER BY faults DESC, cpu DESC
LIMIT 500
