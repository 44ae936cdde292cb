-- Marks on the charts.

-- name: faults
SELECT
    ts AS time,
    concat('code ', labels['code'], ' of ', labels['device'], ' on ', node) AS text,
    concat('fault,', labels['vendor'], ',', node) AS tags
FROM samples_labelled
WHERE series IN (SELECT id FROM series WHERE name = 'accel_fault_events' AND {{nodes}}) AND $__timeFilter(ts) AND usable
ORDER BY time DESC
LIMIT 200

-- name: node_faults
SELECT
    ts AS time,
    concat('code ', labels['code'], ' of ', labels['device']) AS text,
    concat('fault,', labels['vendor']) AS tags
FROM samples_labelled
WHERE series IN (SELECT id FROM series WHERE name = 'accel_fault_events' AND node = ${node:singlequote}) AND $__timeFilter(ts) AND usable
ORDER BY time DESC
LIMIT 200

-- name: promises
SELECT
    breached AS time,
    concat(kind, ' of ', task, ', ', tenant, if(node = '', '', concat(', on ', node))) AS text,
    concat('promise,', kind, ',', tenant) AS tags
FROM sla_events FINAL
WHERE $__timeFilter(breached) AND {{simulated "simulated"}}
ORDER BY time DESC
LIMIT 200

-- name: node_promises
SELECT
    breached AS time,
    concat(kind, ' of ', task, ', ', tenant) AS text,
    concat('promise,', kind, ',', tenant) AS tags
FROM sla_events FINAL
WHERE $__timeFilter(breached) AND node = ${node:singlequote}
ORDER BY time DESC
LIMIT 200
