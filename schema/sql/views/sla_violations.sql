-- Promises that were broken, and tasks that failed or were evicted, between two times:
-- sla_violations(from = …, to = …), with how busy the node was. Of a broken promise that is what
-- was seen at the time (sla_events), of a failure or an eviction the mean of its hour.
CREATE OR REPLACE VIEW {{.DB}}.sla_violations{{.OnCluster}} AS
WITH
    h AS
    (
        SELECT hour, node, node_group, cpu_busy_seconds / nullIf(cores * observed_seconds, 0) AS cpu, memory_used_seconds / nullIf(memory_bytes * observed_seconds, 0) AS memory
        FROM {{.DB}}.rolled_nodes
        WHERE hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')} AND {{.InForce}}
    ),
    g AS
    (
        SELECT hour, node, sum(busy_seconds) / nullIf(sum(observed_seconds), 0) AS busy
        FROM {{.DB}}.rolled_devices
        WHERE hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')} AND {{.InForce}}
        GROUP BY hour, node
    )
SELECT
    v.time AS time, toStartOfHour(v.time) AS hour, v.cause AS cause, if(v.cluster = '', 'default', v.cluster) AS cluster, v.tenant AS tenant, v.queue AS queue, v.type AS type,
    v.node AS node, h.node_group AS node_group, v.task AS task, v.promised AS promised_seconds, v.measured AS measured_seconds, v.reason AS reason,
    v.queue_length AS queue_length, v.node_tasks AS node_tasks, coalesce(v.cpu, if(v.cause IN ('failed', 'evicted'), h.cpu, NULL)) AS node_cpu_busy_ratio,
    coalesce(v.memory, if(v.cause IN ('failed', 'evicted'), h.memory, NULL)) AS node_memory_used_ratio,
    coalesce(v.busy, if(v.cause IN ('failed', 'evicted'), g.busy, NULL)) AS device_busy_ratio, v.simulated AS simulated
FROM
(
    SELECT breached AS time, toString(kind) AS cause, toString(cluster) AS cluster, task, toString(tenant) AS tenant, toString(queue) AS queue, toString(type) AS type,
        toString(node) AS node, CAST(promised, 'Nullable(Float64)') AS promised, CAST(measured, 'Nullable(Float64)') AS measured, '' AS reason,
        CAST(queue_length, 'Nullable(UInt32)') AS queue_length, CAST(node_tasks, 'Nullable(UInt32)') AS node_tasks, CAST(node_cpu_busy, 'Nullable(Float64)') AS cpu,
        CAST(node_memory_used, 'Nullable(Float64)') AS memory, CAST(device_busy, 'Nullable(Float64)') AS busy, simulated
    FROM {{.DB}}.sla_events FINAL
    WHERE breached >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND breached < {to:DateTime64(3, 'UTC')}
    UNION ALL
    SELECT e.time, toString(e.state), toString(e.cluster), e.task, toString(t.tenant), toString(t.queue), toString(t.type), toString(if(e.node != '', e.node, t.node)),
        NULL, NULL, e.reason, NULL, NULL, NULL, NULL, NULL, t.simulated
    FROM {{.DB}}.task_events AS e FINAL
    INNER JOIN
    (
        SELECT * FROM {{.DB}}.rolled_tasks
        WHERE hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')} AND counted AND {{.InForce}}
    ) AS t ON t.cluster = e.cluster AND t.task = e.task AND t.hour = toStartOfHour(e.time)
    WHERE e.time >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND e.time < {to:DateTime64(3, 'UTC')} AND e.state IN ('failed', 'evicted')
) AS v
LEFT JOIN h ON h.hour = toStartOfHour(v.time) AND h.node = v.node
LEFT JOIN g ON g.hour = toStartOfHour(v.time) AND g.node = v.node
SETTINGS join_use_nulls = 1
