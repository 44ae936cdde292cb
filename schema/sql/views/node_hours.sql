-- What the CPUs and the memory of each node did in each hour: core hours that are there, with a
-- reading, busy and asked for by the tasks that were bound to the node; memory in GiB hours.
CREATE OR REPLACE VIEW {{.DB}}.node_hours{{.OnCluster}} AS
SELECT
    hour, cluster, node, node_group, zone, rack, simulated,
    cores * capacity_seconds / 3600 AS core_hours, cores * observed_seconds / 3600 AS observed_core_hours, cpu_busy_seconds / 3600 AS used_core_hours,
    cpu_allocated_seconds / 3600 AS allocated_core_hours, memory_bytes / 1073741824 * capacity_seconds / 3600 AS gib_hours, memory_bytes / 1073741824 * observed_seconds / 3600 AS observed_gib_hours,
    memory_used_seconds / 1073741824 / 3600 AS used_gib_hours, memory_allocated_seconds / 1073741824 / 3600 AS allocated_gib_hours
FROM {{.DB}}.rolled_nodes
WHERE {{.InForce}}
