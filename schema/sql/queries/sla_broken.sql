-- The promises of the tasks of a snapshot that are broken, and those of them that no row says yet: no
-- promise is broken before its task began, so older rows are not read. Latency is what the
-- task's server measured and exports as task_latency_seconds{task="…"}: the newest sample
-- of the minute before.
    broken AS
    (
        SELECT
            t.cluster AS cluster, t.task AS task, v.1 AS kind, assumeNotNull(v.2) AS breached, assumeNotNull(v.3) AS promised, assumeNotNull(v.4) AS measured,
            t.state AS state, t.tenant AS tenant, t.queue AS queue, t.type AS type, t.priority AS priority, t.node AS node,
            t.queue_seconds AS waited, t.evictions AS evictions, t.simulated AS simulated, t.began AS began
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
    ),
    fresh AS
    (
        SELECT *
        FROM broken
        WHERE (cluster, task, kind) NOT IN
        (
            SELECT cluster, task, kind
            FROM {{.DB}}.sla_events
            WHERE breached >= (SELECT min(least(began, breached)) FROM broken) AND (cluster, task) IN (SELECT cluster, task FROM broken)
        )
    )
