-- What Kubernetes had said of each node by known: kubernetes_nodes_at(known = …). Nodes that
-- were deleted by then have no row. Of two clusters with one node name the newer counts.
CREATE OR REPLACE VIEW {{.DB}}.kubernetes_nodes_at{{.OnCluster}} AS
SELECT * EXCEPT (removed)
FROM
(
    SELECT
        r.node AS node,
        max(r.since) AS since,
        argMax(r.cluster, (r.since, r.cluster)) AS cluster,
        argMax(tuple(r.created), (r.since, r.cluster)).1 AS created,
        argMax(r.zone, (r.since, r.cluster)) AS zone,
        argMax(r.rack, (r.since, r.cluster)) AS rack,
        argMax(r.ready, (r.since, r.cluster)) AS ready,
        argMax(tuple(r.ready_since), (r.since, r.cluster)).1 AS ready_since,
        argMax(r.trouble, (r.since, r.cluster)) AS trouble,
        argMax(r.unschedulable, (r.since, r.cluster)) AS unschedulable,
        argMax(r.taints, (r.since, r.cluster)) AS taints,
        argMax(r.capacity_amounts, (r.since, r.cluster)) AS capacity_amounts,
        argMax(r.allocatable_amounts, (r.since, r.cluster)) AS allocatable_amounts,
        argMax(r.removed, (r.since, r.cluster)) AS removed
    FROM {{.DB}}.node_records AS r
    WHERE r.since <= {known:DateTime64(3, 'UTC')}
    GROUP BY node
)
WHERE removed = 0
