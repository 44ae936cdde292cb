-- What each node was made of, by the inventories that had begun by known:
-- nodes_at(known = …). Nodes that were gone by then have no row.
CREATE OR REPLACE VIEW {{.DB}}.nodes_at{{.OnCluster}} AS
SELECT node, zone, rack, threads, memory_bytes, accelerators, cordoned
FROM
(
    SELECT
        i.node AS node,
        argMax(i.zone, i.since) AS zone,
        argMax(i.rack, i.since) AS rack,
        argMax(tuple(i.threads), i.since).1 AS threads,
        argMax(tuple(i.memory_bytes), i.since).1 AS memory_bytes,
        argMax(i.accelerators, i.since) AS accelerators,
        argMax(i.cordoned, i.since) AS cordoned,
        argMax(i.removed, i.since) AS removed
    FROM {{.DB}}.inventories AS i
    WHERE i.since <= {known:DateTime64(3, 'UTC')}
    GROUP BY node
)
WHERE removed = 0
