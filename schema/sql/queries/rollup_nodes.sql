-- What the CPUs and the memory of each node did in the hour, and what tasks asked for.
INSERT INTO {{.DB}}.rolled_nodes (hour, run, node, cluster, node_group, zone, rack, simulated, cores, memory_bytes, capacity_seconds, observed_seconds, cpu_busy_seconds,
    cpu_allocated_seconds, memory_used_seconds, memory_allocated_seconds)
WITH
    {hour:DateTime64(3, 'UTC')} AS h0,
    {until:DateTime64(3, 'UTC')} AS h1
SELECT
    toDateTime(h0), {run:UInt64}, n.node, if(n.cluster = '', 'default', n.cluster), n.node_group, n.zone, n.rack, n.simulation, n.cores, n.memory,
    dateDiff('millisecond', greatest(n.first, h0), h1) / 1000,
    u.rows * {{.Interval}} / 1000, u.cpu * {{.Interval}} / 1000 * n.cores, arraySum(x -> x.3 * greatest(dateDiff('millisecond', greatest(x.1, n.first), x.2), 0) / 1000, t.held), u.memory * {{.Interval}} / 1000 * n.memory, arraySum(x -> x.4 * greatest(dateDiff('millisecond', greatest(x.1, n.first), x.2), 0) / 1000, t.held)
FROM
(
    SELECT
        i.node AS node, min(i.since) AS first, argMax(i.removed, i.since) AS gone, argMax(i.simulated, i.since) AS simulation,
        toFloat64(ifNull(argMax(tuple(i.threads), i.since).1, 0)) AS cores, toFloat64(ifNull(argMax(tuple(i.memory_bytes), i.since).1, 0)) AS memory,
        argMax(i.zone, i.since) AS zone, argMax(i.rack, i.since) AS rack, argMax(i.labels, i.since) AS own, argMax(i.kubernetes_labels, i.since) AS kubernetes,
        if(own['cluster'] != '', own['cluster'], kubernetes['cluster']) AS cluster,
        arrayFirst(x -> x != '', [own['node_group'], kubernetes['node_group'], kubernetes['cloud.google.com/gke-nodepool'], kubernetes['eks.amazonaws.com/nodegroup'],
            kubernetes['kubernetes.azure.com/agentpool'], kubernetes['node.kubernetes.io/instance-type']]) AS node_group
    FROM {{.DB}}.inventories AS i
    WHERE i.since <= {until:DateTime64(3, 'UTC')} AND cityHash64(i.node) % {buckets:UInt64} = {bucket:UInt64}
    GROUP BY node
) AS n
LEFT JOIN
(
    SELECT node, countIf(cpu_utilization_30s IS NOT NULL) AS rows, ifNull(sum(cpu_utilization_30s), 0) AS cpu, ifNull(sum(memory_used_ratio), 0) AS memory
    FROM {{.DB}}.{{ident .NodeRows}}
    WHERE tick > h0 AND tick <= h1 AND cityHash64(node) % {buckets:UInt64} = {bucket:UInt64}
    GROUP BY node
) AS u ON u.node = n.node
LEFT JOIN
(
    SELECT b AS node, groupArray((a, z, cpu_cores, memory_bytes)) AS held
    FROM {{.DB}}.rolled_tasks
    ARRAY JOIN bound_node AS b, bound_from AS a, bound_to AS z
    WHERE hour = toDateTime({hour:DateTime64(3, 'UTC')}) AND run = {run:UInt64} AND counted
    GROUP BY node
) AS t ON t.node = n.node
WHERE n.gone = 0
