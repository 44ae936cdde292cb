-- The accelerators of each node, as its newest inventory has them.
CREATE OR REPLACE VIEW {{.DB}}.devices{{.OnCluster}} AS
SELECT
    p.node AS node, p.id AS id, p.uid AS uid, p.vendor AS vendor, p.kind AS kind, p.model AS model, p.generation AS generation,
    p.compute_capability AS compute_capability, p.bytes AS memory_bytes, p.firmware AS firmware, p.driver AS driver,
    p.driver_version AS driver_version, p.pci AS pci, p.pci_id AS pci_id, p.numa AS numa, p.link_gigatransfers AS link_gigatransfers,
    p.link_width AS link_width, p.link_max_width AS link_max_width, p.link_bandwidth AS link_bandwidth, p.partition AS partition,
    p.slice_ids AS slice_ids, p.slice_kinds AS slice_kinds, p.slice_profiles AS slice_profiles,
    p.slice_bytes AS slice_bytes, p.slice_cores AS slice_cores, p.mig AS mig, p.sharing AS sharing, nullIf(p.replicas, 0) AS replicas,
    p.power_limit_watts AS power_limit_watts, n.simulation AS simulated, p.since AS since
FROM {{.DB}}.inventory_parts AS p FINAL
INNER JOIN
(
    SELECT node, argMax(since, ingest) AS newest, argMax(removed, ingest) AS gone, argMax(simulated, ingest) AS simulation
    FROM {{.DB}}.inventories
    GROUP BY node
) AS n ON n.node = p.node AND n.newest = p.since
WHERE n.gone = 0 AND p.part = 'accelerator'
ORDER BY node, pci, id{{.JoinLocally}}
