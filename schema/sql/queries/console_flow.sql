-- Records of the last minutes by 10 seconds of their scrape. A record that was sent twice is
-- two; the balance is the ledger's.
SELECT
    toInt64(toUnixTimestamp(toStartOfInterval(scrape, INTERVAL 10 SECOND))) * 1000 AS at, count(), sum(rows), sum(late), sum(duplicates),
    quantile(0.5)(dateDiff('millisecond', scrape, ingest)) / 1000, quantile(0.99)(dateDiff('millisecond', scrape, ingest)) / 1000,
    quantile(0.5)(dateDiff('millisecond', ingest, written)) / 1000, quantile(0.99)(dateDiff('millisecond', ingest, written)) / 1000
FROM {{.DB}}.ingest_ledger
WHERE scrape > now64(3) - INTERVAL {{.Seconds}} SECOND AND scrape <= now64(3)
GROUP BY at
ORDER BY at
