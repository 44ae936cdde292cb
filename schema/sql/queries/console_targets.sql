-- What a node's agents scraped over the last 10 minutes. The agents are found by the node,
-- since the ledger is in the order of agents.
SELECT
    target, max(scrape), argMax(rows, scrape), argMax(state, scrape), count(), countIf(state = {{.Failed}}), sum(late)
FROM {{.DB}}.ingest_ledger
WHERE agent IN (SELECT agent FROM {{.DB}}.agents WHERE node = ?) AND node = ? AND scrape > now64(3) - INTERVAL 10 MINUTE
GROUP BY target
ORDER BY target
LIMIT 1000
