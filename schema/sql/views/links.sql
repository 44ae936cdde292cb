-- How the parts of each node hang together, as its newest inventory has it. Nodes of one
-- rack, zone or switch meet at that place: join the view with itself on to_id for pairs.
CREATE OR REPLACE VIEW {{.DB}}.links{{.OnCluster}} AS
SELECT
    l.node AS node, l.from_part AS from_part, l.from_id AS from_id, l.to_part AS to_part, l.to_id AS to_id, l.kind AS kind,
    l.bandwidth AS bandwidth, l.latency AS latency, l.distance AS distance, l.hops AS hops, l.count AS count, l.degraded AS degraded,
    l.origin AS origin, l.features AS features, n.simulation AS simulated, l.since AS since
FROM {{.DB}}.inventory_links AS l FINAL
INNER JOIN
(
    SELECT node, argMax(since, ingest) AS newest, argMax(removed, ingest) AS gone, argMax(simulated, ingest) AS simulation
    FROM {{.DB}}.inventories
    GROUP BY node
) AS n ON n.node = l.node AND n.newest = l.since
WHERE n.gone = 0
ORDER BY node, from_part, from_id, to_part, to_id{{.JoinLocally}}
