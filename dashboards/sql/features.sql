-- Features: how fresh their rows are, what is missing in them, what is in force.

-- name: delay
SELECT $__timeInterval(tick) AS time, view, quantile(0.99)(dateDiff('millisecond', tick, known)) / 1000 AS delay
FROM ({{each "tick, known"}})
GROUP BY time, view
ORDER BY time

-- name: rows
SELECT $__timeInterval(tick) AS time, view, count() / uniqExact(tick) AS rows
FROM ({{each "tick"}})
GROUP BY time, view
ORDER BY time

-- name: nulls
SELECT $__timeInterval(tick) AS time, view, avg(missing) AS missing
FROM ({{each "tick, arrayAvg([* EXCEPT ($keys, tick, known, flags, origin) APPLY isNull]) AS missing"}})
GROUP BY time, view
ORDER BY time

-- name: flagged
SELECT $__timeInterval(tick) AS time, view, avg(flags != 0) AS flagged
FROM
(
    SELECT tick, 'node_monitoring' AS view, flags FROM node_monitoring WHERE $__timeFilter(tick) AND {{nodes}}
    UNION ALL SELECT tick, 'device_monitoring' AS view, flags FROM device_monitoring WHERE $__timeFilter(tick) AND {{nodes}}
)
GROUP BY time, view
ORDER BY time

-- name: flags
SELECT $__timeInterval(ts) AS time, flag, uniqExact(series) AS series
FROM (SELECT ts, series, labels['flag'] AS flag FROM samples_labelled
    WHERE series IN (SELECT id FROM series WHERE name = 'sample_flag' AND {{nodes}}) AND $__timeFilter(ts) AND usable)
GROUP BY time, flag
ORDER BY time

-- name: flagged_series
SELECT
    labels['flag'] AS flag, toString(node) AS node, labels['uid'] AS uid, labels['metric'] AS metric, labels['target'] AS target,
    count() AS scrapes, min(ts) AS first, max(ts) AS last
FROM samples_labelled
WHERE series IN (SELECT id FROM series WHERE name = 'sample_flag' AND {{nodes}}) AND $__timeFilter(ts) AND usable
GROUP BY flag, node, uid, metric, target
ORDER BY last DESC, scrapes DESC
LIMIT 200

-- name: derived
SELECT $__timeInterval(tick) AS time, view, max(dateDiff('millisecond', tick, written)) / 1000 AS delay
FROM derived_ticks FINAL
WHERE $__timeFilter(tick)
GROUP BY time, view
ORDER BY time

-- name: late
SELECT $__timeInterval(scrape) AS time, sum(late) AS "late samples"
FROM ingest_ledger
WHERE $__timeFilter(scrape)
GROUP BY time
ORDER BY time

-- name: repairs
SELECT count() AS hours
FROM repairs_pending
WHERE hour >= toStartOfHour($__fromTime) AND hour <= $__toTime

-- name: views
SELECT
    name AS view, max(version) AS version, any(entity) AS entity, any(tier) AS tier, uniqExact(feature) AS features,
    max(interval_ms) / 1000 AS interval, max(ttl_ms) / 1000 AS ttl, any(owner) AS owner
FROM feature_views FINAL
GROUP BY name
ORDER BY name

-- name: registry
SELECT kind, name, version, if(active, 'in force', 'retired') AS state, changed, changed_by AS "changed by", substring(hash, 1, 12) AS hash
FROM feature_registry
ORDER BY changed DESC, kind, name
LIMIT 200
