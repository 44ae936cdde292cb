-- The newest inventory of each node that is not gone.
CREATE OR REPLACE VIEW {{.DB}}.nodes{{.OnCluster}} AS
SELECT
    node, since, collected, simulated, hash, arch, kernel, os, os_version, boot_id, vendor, product, hypervisor,
    cpu_model, sockets, cores, threads, memory_bytes, numa_nodes, accelerators, nics,
    region, zone, rack, switch, cordoned, labels, kubernetes_labels, taints, allocatable, faults
FROM
(
    SELECT * FROM {{.DB}}.inventories ORDER BY ingest DESC, since DESC LIMIT 1 BY node
)
WHERE removed = 0
ORDER BY node
