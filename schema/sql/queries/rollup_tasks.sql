-- What each task did in the hour, by all events that happened before its end. Tasks that
-- lived on the day are found through task_log; facts and times are as in the view tasks. A
-- promise is decided once: when it is kept, or when its time is over.
INSERT INTO {{.DB}}.rolled_tasks (hour, run, cluster, task, name, namespace, tenant, queue, type, node, cpu_cores, memory_bytes, accelerators, state, counted,
    simulated, wait_seconds, bound_seconds, placed, ended, evictions, submitted, queue_seconds, run_seconds, total_seconds, queue_kept, queue_broken,
    deadline_kept, deadline_broken, latency_kept, latency_broken, bound_from, bound_to, bound_node, bound_devices)
WITH
    {hour:DateTime64(3, 'UTC')} AS h0,
    {until:DateTime64(3, 'UTC')} AS h1,
    -- In place of the time of what never was: later than all.
    toDateTime64('2200-01-01 00:00:00', 3, 'UTC') AS never
SELECT
    toDateTime(h0) AS hour, {run:UInt64} AS run, f.cluster AS cluster, f.task AS task, name, namespace, tenant, queue, type,
    if(empty(bound_node), last_node, arrayElement(bound_node, -1)) AS node,
    requests['cpu_cores'], requests['memory_bytes'], arraySum(mapValues(mapFilter((k, v) -> startsWith(k, 'accelerators_'), requests))),
    state, {{.Counted (print .DB ".task_log") "day >= toDate({hour:DateTime64(3, 'UTC')})"}} AS counted, simulated,
    arraySum(arrayMap(x -> greatest(dateDiff('millisecond', greatest(x.1, h0), least(x.2, h1)), 0) / 1000, waits)) AS wait_seconds,
    arraySum(arrayMap((a, b) -> dateDiff('millisecond', a, b) / 1000, bound_from, bound_to)) AS bound_seconds,
    ifNull(scheduled >= h0 AND scheduled < h1, 0) AS placed,
    over >= h0 AND over < h1 AS ended,
    evictions,
    submitted,
    if(scheduled IS NULL AND over = never, NULL, greatest(dateDiff('millisecond', since, coalesce(scheduled, over)), 0) / 1000) AS queue_seconds,
    if(over = never, NULL, greatest(dateDiff('millisecond', started, over), 0) / 1000) AS run_seconds,
    if(over = never, NULL, greatest(dateDiff('millisecond', coalesce(submitted, since), over), 0) / 1000) AS total_seconds,
    queue_due != never AND coalesce(scheduled, never) <= queue_due AND placed AS queue_kept,
    queue_due >= h0 AND queue_due < h1 AND queue_due < least(coalesce(scheduled, never), over) AS queue_broken,
    deadline IS NOT NULL AND state = 'finished' AND over <= deadline AND ended AS deadline_kept,
    ifNull(deadline >= h0 AND deadline < h1 AND deadline < over, 0) AS deadline_broken,
    latency_target_seconds IS NOT NULL AND state = 'finished' AND ended AND l.task = '' AS latency_kept,
    l.task != '' AND l.at >= h0 AND l.at < h1 AS latency_broken,
    bound_from, bound_to, bound_node, bound_devices
FROM
(
    SELECT
        e.cluster AS cluster, e.task AS task,
        argMaxIf(e.name, e.place, e.name != '') AS name,
        argMaxIf(e.namespace, e.place, e.namespace != '') AS namespace,
        argMaxIf(e.kind, e.place, e.kind != '') AS kind,
        argMaxIf(e.tenant, e.place, e.tenant != '') AS tenant,
        argMaxIf(e.queue, e.place, e.queue != '') AS queue,
        argMaxIf(e.type, e.place, e.type != '') AS type,
        argMaxIf(e.node, e.place, e.node != '') AS last_node,
        argMaxIf(e.requests, e.place, notEmpty(e.requests)) AS requests,
        argMaxIf(e.deadline, e.place, e.deadline IS NOT NULL) AS deadline,
        argMaxIf(e.max_queue_seconds, e.place, e.max_queue_seconds IS NOT NULL) AS max_queue_seconds,
        argMaxIf(e.latency_target_seconds, e.place, e.latency_target_seconds IS NOT NULL) AS latency_target_seconds,
        argMaxIf(e.state, e.place, e.state != 'updated') AS state,
        max(e.simulated) AS simulated,
        minOrNullIf(e.time, e.state = 'submitted') AS submitted,
        minOrNullIf(e.time, e.state = 'queued') AS queued,
        minOrNullIf(e.time, e.state IN ('scheduled', 'started')) AS scheduled,
        maxOrNullIf(e.time, e.state = 'started') AS started,
        min(e.time) AS began,
        if(state IN ('cancelled', 'failed', 'finished'), maxIf(e.time, e.state != 'updated'), never) AS over,
        countIf(e.state = 'evicted' AND e.time >= h0) AS evictions,
        coalesce(if(queued > scheduled, NULL, queued), submitted, began) AS since,
        if(max_queue_seconds IS NULL, never, addMilliseconds(since, toInt64(max_queue_seconds * 1000))) AS queue_due,
        arraySort(x -> x.1, groupArray((e.place, e.time, e.state, e.node, e.devices))) AS steps,
        arrayMap(x -> x.2, steps) AS times,
        arrayPushBack(arrayPopFront(times), h1) AS nexts,
        arrayFill(x -> x != 'updated', arrayMap(x -> x.3, steps)) AS states,
        arrayFill(x -> x != '', arrayMap(x -> x.4, steps)) AS nodes,
        arrayFill(x -> notEmpty(x.2), arrayMap((n, x) -> (n, x.5), nodes, steps)) AS held,
        arrayFilter(x -> x.3 IN ('submitted', 'queued', 'evicted'), arrayZip(times, nexts, states)) AS waits,
        arrayFilter(x -> x.3 IN ('scheduled', 'started') AND greatest(x.1, h0) < least(x.2, h1), arrayZip(times, nexts, states, nodes, held)) AS bounds,
        arrayMap(x -> greatest(x.1, h0), bounds) AS bound_from,
        arrayMap(x -> least(x.2, h1), bounds) AS bound_to,
        arrayMap(x -> x.4, bounds) AS bound_node,
        arrayMap(x -> if(x.5.1 = x.4, x.5.2, []), bounds) AS bound_devices
    FROM
    (
        SELECT
            *,
            (time, sequence, indexOf(['updated', 'submitted', 'queued', 'scheduled', 'started', 'evicted', 'cancelled', 'failed', 'finished'], state), event_id) AS place
        FROM {{.DB}}.task_events FINAL
        WHERE time < {until:DateTime64(3, 'UTC')}
            AND (cluster, task) IN
            (
                SELECT DISTINCT cluster, task FROM {{.DB}}.task_log
                WHERE day >= toDate({hour:DateTime64(3, 'UTC')}) AND cityHash64(cluster, task) % {buckets:UInt64} = {bucket:UInt64}
            )
    ) AS e
    GROUP BY cluster, task
) AS f
LEFT JOIN
(
    SELECT cluster, task, min(breached) AS at FROM {{.DB}}.sla_events FINAL WHERE kind = 'latency' GROUP BY cluster, task
) AS l ON l.cluster = f.cluster AND l.task = f.task
WHERE over >= h0 OR notEmpty(bound_from) OR queue_broken OR deadline_broken OR latency_broken
