-- Keeps the promises that were broken by the tick and are not kept yet, with how the task, its
-- node and its queue stood.
INSERT INTO {{.DB}}.sla_events (cluster, task, kind, breached, tick, known, promised, measured, state, tenant, queue, type, priority, node, devices,
    waited_seconds, evictions, queue_length, tenant_running, node_tasks, node_cpu_busy, node_memory_used, device_busy, simulated)
WITH
{{.Broken}}SELECT
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
