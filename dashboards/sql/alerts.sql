-- Rules of Grafana over the store. Each row is an alert of its own: its texts are the labels,
-- its number is compared.

-- name: records_lost
SELECT node, max(lost) AS lost
FROM ({{balance}})
GROUP BY node
ORDER BY lost DESC
LIMIT 100

-- name: samples_duplicate
SELECT node, sum(if(visible > expected, visible - expected, 0)) AS duplicate
FROM ({{audit}})
GROUP BY node
ORDER BY duplicate DESC
LIMIT 100

-- name: samples_missing
SELECT node, sum(if(expected > visible, expected - visible, 0)) AS missing
FROM ({{audit}})
GROUP BY node
ORDER BY missing DESC
LIMIT 100

-- name: nodes_silent
SELECT node, dateDiff('second', max(scrape), $__toTime) AS silent
FROM ingest_ledger
WHERE $__timeFilter(scrape)
GROUP BY node
ORDER BY silent DESC
LIMIT 100

-- name: device_fault
SELECT toString(node) AS node, labels['device'] AS uid, labels['vendor'] AS vendor, labels['code'] AS code, sumIf(value, ts > $__toTime - INTERVAL 15 MINUTE) AS events
FROM samples_labelled
WHERE series IN (SELECT id FROM series WHERE name = 'accel_fault_events') AND $__timeFilter(ts) AND usable
GROUP BY node, uid, vendor, code
ORDER BY events DESC
LIMIT 100

-- name: device_unhealthy
SELECT node, uid, argMax(m.health, m.tick) AS health
FROM device_monitoring AS m
WHERE m.tick > $__toTime - INTERVAL 2 MINUTE AND m.tick <= $__toTime AND m.health IS NOT NULL
GROUP BY node, uid
ORDER BY health
LIMIT 100

-- name: budget_burns
SELECT tenant, argMin(slo_error_budget_24h, tick) - argMax(slo_error_budget_24h, tick) AS burnt
FROM tenant_business
WHERE $__timeFilter(tick) AND slo_error_budget_24h IS NOT NULL
GROUP BY tenant
ORDER BY burnt DESC
LIMIT 100

-- name: budget_left
SELECT tenant, argMax(slo_error_budget_24h, tick) AS budget
FROM tenant_business
WHERE $__timeFilter(tick) AND slo_error_budget_24h IS NOT NULL
GROUP BY tenant
ORDER BY budget
LIMIT 100
