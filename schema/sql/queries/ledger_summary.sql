WITH
    agents AS
    (
        SELECT count() AS agents, sum(received) AS received, sum(lost) AS lost, sum(dropped) AS dropped,
               sum(pending) AS pending, sum(resent) AS resent
        FROM {{.DB}}.ledger
    ),
    audit AS
    (
        SELECT sum(expected) AS expected, sum(visible) AS visible, sum(lost) AS lost, sum(duplicate) AS duplicate
        FROM {{.DB}}.ingest_audit
    )
SELECT
    agents.agents, toUInt64(agents.received), toUInt64(agents.lost), toUInt64(agents.dropped),
    toUInt64(agents.pending), toUInt64(agents.resent),
    toUInt64(audit.expected), toUInt64(audit.visible), toUInt64(audit.lost), toUInt64(audit.duplicate)
FROM agents CROSS JOIN audit
