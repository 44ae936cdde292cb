SELECT partition, max(offset), count(), max(ingest), greatest(dateDiff('millisecond', max(ingest), argMax(written, offset)), 0) / 1000
FROM {{.DB}}.ingest_ledger
WHERE scrape > now64(3) - INTERVAL {{.Seconds}} SECOND
GROUP BY partition
ORDER BY partition
LIMIT 4096
