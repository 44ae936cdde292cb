-- Accelerators of all vendors with one meaning for each reading.

-- name: accelerators
SELECT uniqExact(m.node, m.uid) AS accelerators
FROM device_monitoring AS m
LEFT JOIN {{devices}} AS d ON d.node = m.node AND d.uid = m.uid
WHERE $__timeFilter(tick) AND {{accelerators}}

-- name: busy_now
SELECT avg(busy) AS busy
FROM
(
    SELECT argMax(m.busy_ratio_1m, m.tick) AS busy
    FROM device_monitoring AS m
    LEFT JOIN {{devices}} AS d ON d.node = m.node AND d.uid = m.uid
    WHERE tick > $__toTime - INTERVAL 2 MINUTE AND tick <= $__toTime AND {{accelerators}}
    GROUP BY m.node, m.uid
)

-- name: power_now
SELECT sum(watts) AS power
FROM
(
    SELECT argMax(m.power_watts, m.tick) AS watts
    FROM device_monitoring AS m
    LEFT JOIN {{devices}} AS d ON d.node = m.node AND d.uid = m.uid
    WHERE tick > $__toTime - INTERVAL 2 MINUTE AND tick <= $__toTime AND {{accelerators}}
    GROUP BY m.node, m.uid
)

-- name: unhealthy
SELECT countIf(health < 1) AS unhealthy
FROM
(
    SELECT argMax(m.health, m.tick) AS health
    FROM device_monitoring AS m
    LEFT JOIN {{devices}} AS d ON d.node = m.node AND d.uid = m.uid
    WHERE tick > $__toTime - INTERVAL 2 MINUTE AND tick <= $__toTime AND {{accelerators}}
    GROUP BY m.node, m.uid
)

-- name: busy
SELECT $__timeInterval(tick) AS time, d.model AS model, avg(m.busy_ratio_1m) AS busy
FROM device_monitoring AS m
LEFT JOIN {{devices}} AS d ON d.node = m.node AND d.uid = m.uid
WHERE $__timeFilter(tick) AND {{accelerators}}
GROUP BY time, model
ORDER BY time

-- name: memory
SELECT $__timeInterval(tick) AS time, d.model AS model, avg(m.memory_used_ratio) AS used
FROM device_monitoring AS m
LEFT JOIN {{devices}} AS d ON d.node = m.node AND d.uid = m.uid
WHERE $__timeFilter(tick) AND {{accelerators}}
GROUP BY time, model
ORDER BY time

-- name: bandwidth
SELECT $__timeInterval(tick) AS time, d.model AS model, avg(m.memory_bandwidth_ratio_1m) AS bandwidth
FROM device_monitoring AS m
LEFT JOIN {{devices}} AS d ON d.node = m.node AND d.uid = m.uid
WHERE $__timeFilter(tick) AND m.memory_bandwidth_ratio_1m IS NOT NULL AND {{accelerators}}
GROUP BY time, model
ORDER BY time

-- name: power
SELECT $__timeInterval(tick) AS time, d.model AS model, avg(m.power_watts) AS power
FROM device_monitoring AS m
LEFT JOIN {{devices}} AS d ON d.node = m.node AND d.uid = m.uid
WHERE $__timeFilter(tick) AND {{accelerators}}
GROUP BY time, model
ORDER BY time

-- name: temperature
SELECT $__timeInterval(tick) AS time, d.model AS model, max(m.temperature_celsius) AS temperature
FROM device_monitoring AS m
LEFT JOIN {{devices}} AS d ON d.node = m.node AND d.uid = m.uid
WHERE $__timeFilter(tick) AND {{accelerators}}
GROUP BY time, model
ORDER BY time

-- name: throttled
SELECT $__timeInterval(tick) AS time, d.model AS model, avg(m.throttled_ratio_1m) AS throttled
FROM device_monitoring AS m
LEFT JOIN {{devices}} AS d ON d.node = m.node AND d.uid = m.uid
WHERE $__timeFilter(tick) AND m.throttled_ratio_1m IS NOT NULL AND {{accelerators}}
GROUP BY time, model
ORDER BY time

-- name: idle_held
SELECT time, countIf(owners > 0 AND busy < 0.05) AS "held and idle", countIf(owners > 0) AS held, count() AS all
FROM
(
    SELECT $__timeInterval(tick) AS time, max(m.owners) AS owners, avg(m.busy_ratio_5m) AS busy
    FROM device_monitoring AS m
    LEFT JOIN {{devices}} AS d ON d.node = m.node AND d.uid = m.uid
    WHERE $__timeFilter(tick) AND {{accelerators}}
    GROUP BY time, m.node, m.uid
)
GROUP BY time
ORDER BY time

-- name: memory_errors
SELECT $__timeInterval(tick) AS time, sum(m.memory_corrected_15m) AS corrected, sum(m.memory_errors_15m) AS uncorrected
FROM
(
    SELECT tick, node, uid, memory_corrected_15m, memory_errors_15m
    FROM device_monitoring
    WHERE $__timeFilter(tick)
    ORDER BY tick DESC
    LIMIT 1 BY node, uid, $__timeInterval(tick)
) AS m
LEFT JOIN {{devices}} AS d ON d.node = m.node AND d.uid = m.uid
WHERE {{accelerators}}
GROUP BY time
ORDER BY time

-- name: fabric
SELECT
    time,
    sum(fabric) AS "between accelerators",
    sum(pcie) AS PCIe
FROM
(
    SELECT $__timeInterval(tick) AS time, avg(m.fabric_bytes_per_second_1m) AS fabric, avg(m.pcie_bytes_per_second_1m) AS pcie
    FROM device_monitoring AS m
    LEFT JOIN {{devices}} AS d ON d.node = m.node AND d.uid = m.uid
    WHERE $__timeFilter(tick) AND {{accelerators}}
    GROUP BY time, m.node, m.uid
)
GROUP BY time
ORDER BY time

-- name: faults
SELECT toString(node) AS node, labels['device'] AS uid, labels['vendor'] AS vendor, labels['code'] AS code, sum(value) AS events, min(ts) AS first, max(ts) AS last
FROM samples_labelled
WHERE series IN (SELECT id FROM series WHERE name = 'accel_fault_events' AND {{all "node" "node"}} AND {{nodes}} AND {{all "labels['vendor']" "vendor"}})
    AND $__timeFilter(ts) AND usable
GROUP BY node, uid, vendor, code
ORDER BY last DESC
LIMIT 200

-- name: worst
SELECT
    m.node AS node, m.uid AS uid, any(d.vendor) AS vendor, any(d.model) AS model,
    argMax(m.health, m.tick) AS health,
    argMax(m.faults_1h, m.tick) AS faults,
    argMax(m.memory_errors_15m, m.tick) AS "memory errors",
    argMax(m.throttled_ratio_1m, m.tick) AS throttled,
    argMax(m.temperature_celsius, m.tick) AS temperature,
    argMax(m.busy_ratio_1m, m.tick) AS busy,
    argMax(m.memory_used_ratio, m.tick) AS memory
FROM device_monitoring AS m
LEFT JOIN {{devices}} AS d ON d.node = m.node AND d.uid = m.uid
WHERE m.tick > $__toTime - INTERVAL 2 MINUTE AND m.tick <= $__toTime AND {{accelerators}}
GROUP BY node, uid
ORDER BY health ASC NULLS LAST, faults DESC, throttled DESC, temperature DESC
LIMIT 200

-- name: slices
SELECT node, device, slice, kind, profile, memory_bytes AS memory, mem_used_bytes AS used, ifNull(busy_ratio, engine_active_ratio) AS busy, length(owners) AS owners
FROM slices
WHERE {{all "vendor" "vendor"}} AND {{all "node" "node"}} AND {{nodes}}
ORDER BY node, device, slice
LIMIT 500
