-- What each node was made of, by the inventories that had begun by known, and what Kubernetes
-- had said of it: nodes_at(known = …). It has the nodes that agents told of; those that were gone
-- by then have no row. What Kubernetes alone knows is in kubernetes_nodes_at.
CREATE OR REPLACE VIEW {{.DB}}.nodes_at{{.OnCluster}} AS
SELECT
    i.node AS node,
    if(i.zone != '', i.zone, k.zone) AS zone,
    if(i.rack != '', i.rack, k.rack) AS rack,
    i.threads AS threads,
    i.memory_bytes AS memory_bytes,
    i.accelerators AS accelerators,
    if(k.node != '', k.unschedulable, i.cordoned) AS cordoned,
    k.cluster AS cluster,
    if(k.node != '', toNullable(k.ready), NULL) AS ready,
    k.trouble AS trouble,
    k.taints AS taints,
    k.capacity_amounts AS capacity_amounts,
    k.allocatable_amounts AS allocatable_amounts
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
) AS i
LEFT JOIN {{.DB}}.kubernetes_nodes_at(known = {known:DateTime64(3, 'UTC')}) AS k ON k.node = i.node
WHERE i.removed = 0
