-- The network ports of each node, DPUs among them, as its newest inventory has them.
CREATE OR REPLACE VIEW {{.DB}}.nics{{.OnCluster}} AS
SELECT
    p.node AS node, p.id AS id, p.name AS name, p.kind AS kind, p.model AS model, p.dpu AS dpu, p.speed AS speed, p.up AS up,
    p.rdma AS rdma, p.firmware AS firmware, p.driver AS driver, p.driver_version AS driver_version, p.pci AS pci, p.pci_id AS pci_id,
    p.numa AS numa, p.link_bandwidth AS link_bandwidth, n.simulation AS simulated, p.since AS since
FROM {{.DB}}.inventory_parts AS p FINAL
INNER JOIN
(
    SELECT node, argMax(since, ingest) AS newest, argMax(removed, ingest) AS gone, argMax(simulated, ingest) AS simulation
    FROM {{.DB}}.inventories
    GROUP BY node
) AS n ON n.node = p.node AND n.newest = p.since
WHERE n.gone = 0 AND p.part = 'nic'
ORDER BY node, id{{.JoinLocally}}
