-- What each task was at a tick, by the events that happened before it and had come by
-- known: tasks_at(tick = …, known = …). Facts and times are as in tasks; a task that waits has
-- waited, and one that runs has run, up to the tick. It has the tasks that had not ended when
-- the day of known began, or had within a day before, and those that came on the day.
CREATE OR REPLACE VIEW {{.DB}}.tasks_at{{.OnCluster}} AS
SELECT
    *,
    state IN ('cancelled', 'failed', 'finished') AS ended,
    state IN ('submitted', 'queued', 'evicted') AS waits,
    state IN ('scheduled', 'started') AS bound,
    coalesce(if(queued > scheduled, NULL, queued), submitted) AS waiting_since,
    coalesce(scheduled, if(ended, changed, NULL)) AS waiting_until,
    dateDiff('millisecond', waiting_since, coalesce(waiting_until, {tick:DateTime64(3, 'UTC')})) / 1000 AS waited,
    dateDiff('millisecond', started, if(state IN ('scheduled', 'started'), {tick:DateTime64(3, 'UTC')}, changed)) / 1000 AS ran,
    if(waited < 0, 0, waited) AS queue_seconds,
    if(ran < 0, 0, ran) AS run_seconds,
    {{.Counted (print .DB ".task_log") "day = toDate({known:DateTime64(3, 'UTC')}) AND ingest <= {known:DateTime64(3, 'UTC')} AND time < {tick:DateTime64(3, 'UTC')}"}} AS counted
FROM
(
    SELECT
        cluster,
        task,
        argMaxIf(e.state, place, e.state != 'updated') AS state,
        maxIf(e.time, e.state != 'updated') AS changed,
        min(e.time) AS began,
        argMaxIf(e.kind, place, e.kind != '') AS kind,
        argMaxIf(e.tenant, place, e.tenant != '') AS tenant,
        argMaxIf(e.queue, place, e.queue != '') AS queue,
        argMaxIf(e.type, place, e.type != '') AS type,
        argMaxIf(e.priority, place, e.priority IS NOT NULL) AS priority,
        argMaxIf(e.owners, place, e.owners != 0) AS owners,
        argMaxIf(e.group_id, place, e.group_id != '') AS group_id,
        argMaxIf(e.group_size, place, e.group_size != 0) AS group_size,
        argMaxIf(e.dependencies, place, notEmpty(e.dependencies)) AS dependencies,
        argMaxIf(e.node, place, e.node != '') AS node,
        argMaxIf(e.node, place, notEmpty(e.devices)) AS devices_node,
        if(devices_node = node, argMaxIf(e.devices, place, notEmpty(e.devices)), []) AS devices,
        argMaxIf(e.cpu_cores, place, e.requests != 0) AS cpu_cores,
        argMaxIf(e.memory_bytes, place, e.requests != 0) AS memory_bytes,
        argMaxIf(e.storage_bytes, place, e.requests != 0) AS storage_bytes,
        argMaxIf(e.accelerators, place, e.requests != 0) AS accelerators,
        argMaxIf(e.deadline, place, e.deadline IS NOT NULL) AS deadline,
        argMaxIf(e.max_queue_seconds, place, e.max_queue_seconds IS NOT NULL) AS max_queue_seconds,
        argMaxIf(e.latency_target_seconds, place, e.latency_target_seconds IS NOT NULL) AS latency_target_seconds,
        max(e.simulated) AS simulated,
        minOrNullIf(e.time, e.state = 'submitted') AS submitted,
        minOrNullIf(e.time, e.state = 'queued') AS queued,
        minOrNullIf(e.time, e.state IN ('scheduled', 'started')) AS scheduled,
        maxOrNullIf(e.time, e.state = 'started') AS started,
        maxOrNullIf(e.time, e.state = 'evicted') AS evicted,
        toUInt32(uniqExactIf(place, e.state = 'started')) AS attempts,
        toUInt32(uniqExactIf(place, e.state = 'evicted')) AS evictions
    FROM {{.DB}}.task_log AS e
    WHERE e.day = toDate({known:DateTime64(3, 'UTC')}) AND e.ingest <= {known:DateTime64(3, 'UTC')} AND e.time < {tick:DateTime64(3, 'UTC')}
    GROUP BY cluster, task
)
