-- Samples that the ledger claims, by node: by the time of console_visible, and by now. A record
-- that was sent twice counts once.
SELECT node, sumIf(rows, written <= fromUnixTimestamp64Milli({at:Int64}, 'UTC')), sum(rows)
FROM
(
    SELECT agent, seq, any(l.node) AS node, max(l.rows) AS rows, min(l.written) AS written
    FROM {{.DB}}.ingest_ledger AS l FINAL
    WHERE l.scrape >= {{.AuditSince}}
    GROUP BY agent, seq
)
GROUP BY node
