-- The line itself: what came, what was lost, how long it took.

-- name: lost
SELECT sum(lost) AS lost
FROM ({{balance}})

-- name: held
SELECT sum(held) AS held
FROM ({{balance}})

-- name: given_up
SELECT sum(given_up) AS "given up"
FROM ({{balance}})

-- name: duplicate
SELECT sum(if(visible > expected, visible - expected, 0)) AS duplicate
FROM ({{audit}})

-- name: missing
SELECT sum(if(expected > visible, expected - visible, 0)) AS missing
FROM ({{audit}})

-- name: dead
SELECT count() AS dead
FROM dead_letters FINAL
WHERE $__timeFilter(ingest)

-- name: samples
SELECT $__timeInterval(scrape) AS time, sum(rows) / $__interval_s AS samples
FROM ingest_ledger
WHERE $__timeFilter(scrape)
GROUP BY time
ORDER BY time

-- name: scrapes
SELECT $__timeInterval(scrape) AS time, ['ok', 'partial', 'failed'][state + 1] AS outcome, count() AS scrapes
FROM ingest_ledger
WHERE $__timeFilter(scrape)
GROUP BY time, outcome
ORDER BY time

-- name: transport
SELECT
    $__timeInterval(scrape) AS time,
    quantile(0.5)(dateDiff('millisecond', scrape, ingest)) / 1000 AS p50,
    quantile(0.99)(dateDiff('millisecond', scrape, ingest)) / 1000 AS p99
FROM ingest_ledger
WHERE $__timeFilter(scrape)
GROUP BY time
ORDER BY time

-- name: storage
SELECT
    $__timeInterval(scrape) AS time,
    quantile(0.5)(dateDiff('millisecond', ingest, written)) / 1000 AS p50,
    quantile(0.99)(dateDiff('millisecond', ingest, written)) / 1000 AS p99
FROM ingest_ledger
WHERE $__timeFilter(scrape)
GROUP BY time
ORDER BY time

-- name: agents
SELECT node, agent, received, held, given_up AS "given up", lost, resent, newest AS "newest scrape"
FROM ({{balance}})
WHERE {{nodes}}
ORDER BY lost DESC, given_up DESC, held DESC, node
LIMIT 500

-- name: audit
SELECT hour, sum(a.expected) AS claimed, sum(a.visible) AS found,
    sum(if(a.expected > a.visible, a.expected - a.visible, 0)) AS missing, sum(if(a.visible > a.expected, a.visible - a.expected, 0)) AS duplicate
FROM ({{audit}}) AS a
GROUP BY hour
ORDER BY hour DESC
LIMIT 48
