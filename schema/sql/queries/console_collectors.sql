SELECT uniqExact(node), uniqExact(agent), uniqExact(node, target), count(), countIf(state = {{.Partial}}), countIf(state = {{.Failed}}),
    maxOrNull(scrape), maxOrNull(written)
FROM {{.DB}}.ingest_ledger
WHERE scrape > now64(3) - INTERVAL {{.Seconds}} SECOND AND scrape <= now64(3) + INTERVAL 1 MINUTE
