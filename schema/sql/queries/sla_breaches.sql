-- Keeps the promises that were broken by the tick and are not kept yet, with how the task, its
-- node and its queue stood. Latency is what the task's server measured and exports as
-- task_latency_seconds{task="…"}: the newest sample of the minute before.
INSERT INTO {{.DB}}.sla_events (cluster, task, kind, breached, tick, known, promised, measured, state, tenant, queue, type, priority, node, devices,
    waited_seconds, evictions, queue_length, tenant_running, node_tasks, node_cpu_busy, node_memory_used, device_busy, simulated)
WITH
    fresh AS
    (
        SELECT
            t.cluster AS cluster, t.task AS task, v.1 AS kind, assumeNotNull(v.2) AS breached, assumeNotNull(v.3) AS promised, assumeNotNull(v.4) AS measured,
            t.state AS state, t.tenant AS tenant, t.queue AS queue, t.type AS type, t.priority AS priority, t.node AS node,
            t.queue_seconds AS waited, t.evictions AS evictions, t.simulated AS simulated
        FROM {{.DB}}.task_snapshots AS t
        LEFT JOIN
        (
            SELECT n.labels['task'] AS task, argMaxOrNull(s.value, s.ts) AS seconds, max(s.ts) AS at
            FROM {{.DB}}.samples AS s
            INNER JOIN
            (
                SELECT id, any(labels) AS labels FROM {{.DB}}.series WHERE name = 'task_latency_seconds' GROUP BY id
            ) AS n ON n.id = s.series
            WHERE s.series IN (SELECT id FROM {{.DB}}.series WHERE name = 'task_latency_seconds') AND bitAnd(s.flags, {{.Unfit}}) = 0
                AND s.ts >= {tick:DateTime64(3, 'UTC')} - INTERVAL 1 MINUTE AND s.ts < {tick:DateTime64(3, 'UTC')} AND NOT isNaN(s.value)
            GROUP BY task
        ) AS l ON l.task = t.task
        ARRAY JOIN
        [
            ('queue_time', if(t.queue_seconds > t.max_queue_seconds, addMilliseconds(t.waiting_since, toInt64(t.max_queue_seconds * 1000)), NULL),
                t.max_queue_seconds, t.queue_seconds),
            ('deadline', if(t.deadline < if(t.ended, t.changed, {tick:DateTime64(3, 'UTC')}), t.deadline, NULL),
                dateDiff('millisecond', t.began, t.deadline) / 1000, dateDiff('millisecond', t.began, if(t.ended, t.changed, {tick:DateTime64(3, 'UTC')})) / 1000),
            ('latency', if(t.bound AND l.seconds > t.latency_target_seconds, l.at, NULL), t.latency_target_seconds, l.seconds)
        ] AS v
        WHERE t.run = {run:UInt64} AND v.2 IS NOT NULL
            AND (t.cluster, t.task, v.1) NOT IN (SELECT cluster, task, kind FROM {{.DB}}.sla_events)
    )
SELECT
    f.cluster, f.task, f.kind, f.breached, {tick:DateTime64(3, 'UTC')}, {known:DateTime64(3, 'UTC')}, f.promised, f.measured, f.state, f.tenant, f.queue, f.type,
    f.priority, f.node, d.devices, f.waited, f.evictions, q.waiting, n.running, m.tasks,
    {{if .Monitored}}u.cpu, u.memory{{else}}NULL, NULL{{end}}, a.busy, f.simulated
FROM fresh AS f
LEFT JOIN
(
    SELECT e.cluster AS cluster, e.task AS task,
        if(argMaxIf(e.node, e.place, notEmpty(e.devices)) = argMaxIf(e.node, e.place, e.node != ''), argMaxIf(e.devices, e.place, notEmpty(e.devices)), []) AS devices
    FROM {{.DB}}.task_log AS e
    WHERE e.day = toDate({known:DateTime64(3, 'UTC')}) AND e.ingest <= {known:DateTime64(3, 'UTC')} AND e.time < {tick:DateTime64(3, 'UTC')}
        AND (e.cluster, e.task) IN (SELECT cluster, task FROM fresh)
    GROUP BY cluster, task
) AS d ON d.cluster = f.cluster AND d.task = f.task
LEFT JOIN
(
    SELECT cluster, queue, toUInt32(countIf(waits)) AS waiting FROM {{.DB}}.task_snapshots WHERE run = {run:UInt64} AND counted GROUP BY cluster, queue
) AS q ON q.cluster = f.cluster AND q.queue = f.queue
LEFT JOIN
(
    SELECT cluster, tenant, toUInt32(countIf(bound)) AS running FROM {{.DB}}.task_snapshots WHERE run = {run:UInt64} AND counted GROUP BY cluster, tenant
) AS n ON n.cluster = f.cluster AND n.tenant = f.tenant
LEFT JOIN
(
    SELECT cluster, node, toUInt32(count()) AS tasks FROM {{.DB}}.task_snapshots WHERE run = {run:UInt64} AND counted AND bound AND node != '' GROUP BY cluster, node
) AS m ON m.cluster = f.cluster AND m.node = f.node
LEFT JOIN
(
    SELECT n.node AS node, avgOrNull(s.value) AS busy
    FROM {{.DB}}.samples AS s
    INNER JOIN
    (
        SELECT id, any(node) AS node FROM {{.DB}}.series WHERE name = 'accel_busy_ratio' GROUP BY id
    ) AS n ON n.id = s.series
    WHERE s.series IN (SELECT id FROM {{.DB}}.series WHERE name = 'accel_busy_ratio' AND node IN (SELECT node FROM fresh)) AND bitAnd(s.flags, {{.Unfit}}) = 0
        AND s.ts >= {tick:DateTime64(3, 'UTC')} - INTERVAL 1 MINUTE AND s.ts < {tick:DateTime64(3, 'UTC')} AND NOT isNaN(s.value)
    GROUP BY node
) AS a ON a.node = f.node
{{- if .Monitored}}
LEFT JOIN
(
    SELECT w.node AS node, argMax(w.cpu_utilization_1m, w.tick) AS cpu, argMax(w.memory_used_ratio_1m, w.tick) AS memory
    FROM {{.DB}}.node_monitoring AS w
    WHERE w.tick > {tick:DateTime64(3, 'UTC')} - INTERVAL 1 MINUTE AND w.tick <= {tick:DateTime64(3, 'UTC')} AND w.known <= {known:DateTime64(3, 'UTC')}
        AND w.node IN (SELECT node FROM fresh)
    GROUP BY w.node
) AS u ON u.node = f.node
{{- end}}
