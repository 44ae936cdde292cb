-- One node: what it is, what it does, what runs on it, what was wrong.

-- name: facts
SELECT
    node, rack, zone, cpu_model AS cpu, sockets, cores, threads, memory_bytes AS memory, accelerators, nics, kernel, os,
    if(cordoned, 'yes', 'no') AS cordoned, if(simulated, 'yes', 'no') AS simulated, since
FROM nodes
WHERE node = ${node:singlequote}

-- name: cpu
SELECT
    $__timeInterval(tick) AS time,
    avg(cpu_utilization_30s) AS "30 s",
    avg(cpu_utilization_1m) AS "1 min",
    avg(cpu_utilization_5m) AS "5 min"
FROM node_monitoring
WHERE node = ${node:singlequote} AND $__timeFilter(tick)
GROUP BY time
ORDER BY time

-- name: load
SELECT
    $__timeInterval(tick) AS time,
    avg(load_per_core_1m) AS "1 min",
    avg(load_per_core_5m) AS "5 min",
    avg(load_per_core_15m) AS "15 min"
FROM node_monitoring
WHERE node = ${node:singlequote} AND $__timeFilter(tick)
GROUP BY time
ORDER BY time

-- name: memory
SELECT $__timeInterval(tick) AS time, avg(memory_used_ratio) AS used, max(filesystem_used_ratio_max) AS "fullest file system"
FROM node_monitoring
WHERE node = ${node:singlequote} AND $__timeFilter(tick)
GROUP BY time
ORDER BY time

-- name: disk
SELECT
    $__timeInterval(tick) AS time,
    avg(disk_read_bytes_per_second_30s) AS read,
    avg(disk_write_bytes_per_second_30s) AS write
FROM node_monitoring
WHERE node = ${node:singlequote} AND $__timeFilter(tick)
GROUP BY time
ORDER BY time

-- name: network
SELECT
    $__timeInterval(tick) AS time,
    avg(network_receive_bytes_per_second_30s) AS receive,
    avg(network_transmit_bytes_per_second_30s) AS transmit
FROM node_monitoring
WHERE node = ${node:singlequote} AND $__timeFilter(tick)
GROUP BY time
ORDER BY time

-- name: pressure
SELECT
    $__timeInterval(tick) AS time,
    avg(pressure_cpu_1m) AS cpu,
    avg(pressure_memory_1m) AS memory,
    avg(pressure_io_1m) AS io
FROM node_monitoring
WHERE node = ${node:singlequote} AND $__timeFilter(tick)
GROUP BY time
ORDER BY time

-- name: busy
SELECT $__timeInterval(tick) AS time, uid, avg(busy_ratio_30s) AS busy
FROM device_monitoring
WHERE node = ${node:singlequote} AND $__timeFilter(tick)
GROUP BY time, uid
ORDER BY time

-- name: device_memory
SELECT $__timeInterval(tick) AS time, uid, avg(memory_used_ratio) AS used
FROM device_monitoring
WHERE node = ${node:singlequote} AND $__timeFilter(tick)
GROUP BY time, uid
ORDER BY time

-- name: power
SELECT $__timeInterval(tick) AS time, uid, avg(power_watts) AS power
FROM device_monitoring
WHERE node = ${node:singlequote} AND $__timeFilter(tick)
GROUP BY time, uid
ORDER BY time

-- name: temperature
SELECT $__timeInterval(tick) AS time, uid, max(temperature_celsius) AS temperature
FROM device_monitoring
WHERE node = ${node:singlequote} AND $__timeFilter(tick)
GROUP BY time, uid
ORDER BY time

-- name: tasks
SELECT task, tenant, queue, type, state, queue_seconds AS waited, dateDiff('second', started, now64(3)) AS running, length(devices) AS accelerators
FROM tasks
WHERE (cluster, task) IN (SELECT cluster, task FROM task_events WHERE node = ${node:singlequote})
    AND node = ${node:singlequote} AND counted AND state IN ('scheduled', 'started')
ORDER BY started
LIMIT 200

-- name: allocation
SELECT
    $__timeInterval(tick) AS time,
    avg(cpu_allocated_ratio) AS "CPU asked for",
    avg(memory_allocated_ratio) AS "memory asked for",
    avg(accelerator_allocated_ratio) AS "accelerators asked for"
FROM node_business
WHERE node = ${node:singlequote} AND $__timeFilter(tick)
GROUP BY time
ORDER BY time

-- name: faults
SELECT labels['device'] AS uid, labels['vendor'] AS vendor, labels['code'] AS code, sum(value) AS events, min(ts) AS first, max(ts) AS last
FROM samples_labelled
WHERE series IN (SELECT id FROM series WHERE name = 'accel_fault_events' AND node = ${node:singlequote}) AND $__timeFilter(ts) AND usable
GROUP BY uid, vendor, code
ORDER BY last DESC
LIMIT 200

-- name: flags
SELECT
    labels['flag'] AS flag, labels['uid'] AS uid, labels['metric'] AS metric, labels['target'] AS target,
    min(ts) AS first, max(ts) AS last, count() AS scrapes
FROM samples_labelled
WHERE series IN (SELECT id FROM series WHERE name = 'sample_flag' AND node = ${node:singlequote}) AND $__timeFilter(ts) AND usable
GROUP BY flag, uid, metric, target
ORDER BY last DESC
LIMIT 200

-- name: freshness
SELECT
    $__timeInterval(scrape) AS time,
    avg(dateDiff('millisecond', scrape, ingest)) / 1000 AS "to Kafka",
    avg(dateDiff('millisecond', ingest, written)) / 1000 AS "Kafka to ClickHouse"
FROM ingest_ledger
WHERE node = ${node:singlequote} AND $__timeFilter(scrape)
GROUP BY time
ORDER BY time

-- name: changes
SELECT time, fact, before, after
FROM inventory_changes
WHERE node = ${node:singlequote} AND $__timeFilter(time)
ORDER BY time DESC
LIMIT 200
