-- What each node has of each resource, and what the tasks that are bound to it asked for:
-- allocation, which is not use. A resource is called as in tasks.requests.
CREATE OR REPLACE VIEW {{.DB}}.tasks_allocation{{.OnCluster}} AS
SELECT
    n.cluster AS cluster, n.node AS node, resource,
    n.capacity_amounts[resource] AS capacity,
    n.allocatable_amounts[resource] AS allocatable,
    if(resource = 'pods', toFloat64(h.pods), h.asked[resource]) AS allocated,
    greatest(allocatable - allocated, 0) AS free,
    allocated / nullIf(allocatable, 0) AS allocated_ratio
FROM {{.DB}}.kubernetes_nodes AS n
LEFT JOIN
(
    SELECT cluster, node, countIf(kind = 'pod') AS pods, CAST(sumMap(requests), 'Map(String, Float64)') AS asked
    FROM {{.DB}}.tasks
    WHERE counted AND state IN ('scheduled', 'started') AND node != ''
    GROUP BY cluster, node
) AS h ON h.cluster = n.cluster AND h.node = n.node
ARRAY JOIN mapKeys(n.allocatable_amounts) AS resource
ORDER BY cluster, node, resource
