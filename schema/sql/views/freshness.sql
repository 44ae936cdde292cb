-- Per node: how old the newest of its records is, and where the time went. A scrape waits
-- for Kafka (transport) and then for the store (storage).
CREATE OR REPLACE VIEW {{.DB}}.freshness{{.OnCluster}} AS
SELECT
    node,
    max(scrape) AS last_scrape,
    max(ingest) AS last_ingest,
    max(written) AS last_written,
    dateDiff('millisecond', max(scrape), now64(3)) / 1000 AS age_seconds,
    quantile(0.5)(dateDiff('millisecond', scrape, ingest)) / 1000 AS transport_p50_seconds,
    quantile(0.99)(dateDiff('millisecond', scrape, ingest)) / 1000 AS transport_p99_seconds,
    quantile(0.5)(dateDiff('millisecond', ingest, written)) / 1000 AS storage_p50_seconds,
    quantile(0.99)(dateDiff('millisecond', ingest, written)) / 1000 AS storage_p99_seconds
FROM {{.DB}}.ingest_ledger
WHERE scrape > now64(3) - INTERVAL 1 HOUR
GROUP BY node
ORDER BY node
