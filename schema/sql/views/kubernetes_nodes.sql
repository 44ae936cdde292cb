-- What Kubernetes says of each node that it has: the newest record of each.
CREATE OR REPLACE VIEW {{.DB}}.kubernetes_nodes{{.OnCluster}} AS
SELECT * EXCEPT (removed, document), NOT unschedulable AS schedulable
FROM
(
    SELECT * FROM {{.DB}}.node_records ORDER BY ingest DESC, since DESC LIMIT 1 BY cluster, node
)
WHERE removed = 0
ORDER BY cluster, node
