WITH
    agents AS
    (
        SELECT count() AS agents, sum(received) AS received, sum(lost) AS lost, sum(dropped) AS dropped,
               sum(pending) AS pending, sum(resent) AS resent
        FROM {{.DB}}.ledger
    ),
    audit AS -- by node: an exporter's own timestamps move samples across the border of an hour
    (
        SELECT sum(said) AS expected, sum(found) AS visible,
            sum(if(said > found, said - found, 0)) AS lost, sum(if(found > said, found - said, 0)) AS duplicate
        FROM (SELECT node, sum(expected) AS said, sum(visible) AS found FROM {{.DB}}.ingest_audit GROUP BY node)
    )
SELECT
    agents.agents, toUInt64(agents.received), toUInt64(agents.lost), toUInt64(agents.dropped),
    toUInt64(agents.pending), toUInt64(agents.resent),
    toUInt64(audit.expected), toUInt64(audit.visible), toUInt64(audit.lost), toUInt64(audit.duplicate)
FROM agents CROSS JOIN audit
