-- How sound the data of each node is now: its records by the ledger, where lost must be 0, how
-- long ago it was heard, and how long samples take to be stored, over the last hour.
CREATE OR REPLACE VIEW {{.DB}}.line_health{{.OnCluster}} AS
SELECT
    l.node AS node, l.received AS records, l.lost AS lost, l.dropped AS dropped, l.pending AS pending, l.resent AS resent,
    dateDiff('millisecond', l.last_scrape, now64(3)) / 1000 AS age_seconds, f.transport_p99_seconds AS transport_p99_seconds, f.storage_p99_seconds AS storage_p99_seconds
FROM
(
    SELECT node, sum(received) AS received, sum(lost) AS lost, sum(dropped) AS dropped, sum(pending) AS pending, sum(resent) AS resent, max(last_scrape) AS last_scrape
    FROM {{.DB}}.ledger
    GROUP BY node
) AS l
LEFT JOIN {{.DB}}.freshness AS f ON f.node = l.node
SETTINGS join_use_nulls = 1
