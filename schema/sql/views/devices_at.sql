-- The accelerators of each node with what reports group by, by the inventories that had begun
-- by known: devices_at(known = …). device is the id that the labels of its series have.
-- node_group is the label of that name, or the node pool of a cloud; cluster is the label of
-- that name.
CREATE OR REPLACE VIEW {{.DB}}.devices_at{{.OnCluster}} AS
SELECT
    p.node AS node, if(p.uid = '', concat('pci:', p.id), p.uid) AS device, p.pci AS pci, p.vendor AS vendor, p.kind AS kind, p.model AS model,
    if(n.cluster = '', 'default', n.cluster) AS cluster, n.node_group AS node_group, n.zone AS zone, n.rack AS rack, n.simulation AS simulated,
    n.first AS first, toFloat64(ifNull(p.bytes, 0)) AS memory_bytes,
    p.slice_ids AS slice_ids, p.slice_kinds AS slice_kinds, p.slice_bytes AS slice_bytes, p.slice_cores AS slice_cores
FROM {{.DB}}.inventory_parts AS p FINAL
INNER JOIN
(
    SELECT
        i.node AS node, argMax(i.since, i.since) AS newest, min(i.since) AS first, argMax(i.removed, i.since) AS gone, argMax(i.simulated, i.since) AS simulation,
        argMax(i.zone, i.since) AS zone, argMax(i.rack, i.since) AS rack, argMax(i.labels, i.since) AS own, argMax(i.kubernetes_labels, i.since) AS kubernetes,
        if(own['cluster'] != '', own['cluster'], kubernetes['cluster']) AS cluster,
        arrayFirst(x -> x != '', [own['node_group'], kubernetes['node_group'], kubernetes['cloud.google.com/gke-nodepool'], kubernetes['eks.amazonaws.com/nodegroup'],
            kubernetes['kubernetes.azure.com/agentpool'], kubernetes['node.kubernetes.io/instance-type']]) AS node_group
    FROM {{.DB}}.inventories AS i
    WHERE i.since <= {known:DateTime64(3, 'UTC')}
    GROUP BY node
) AS n ON n.node = p.node AND n.newest = p.since
WHERE n.gone = 0 AND p.part = 'accelerator'{{.JoinLocally}}
