-- The newest inventory of one node, beside what console_nodes gives.
SELECT
    i.arch, i.kernel, trimRight(concat(i.os, ' ', i.os_version)), i.vendor, i.product, i.hypervisor, i.cpu_model, i.sockets, i.cores, i.numa_nodes,
    i.taints, mapUpdate(i.kubernetes_labels, i.labels), i.faults, i.collected, i.facts
FROM {{.DB}}.inventories AS i
WHERE i.node = ?
ORDER BY i.ingest DESC, i.since DESC
LIMIT 1
