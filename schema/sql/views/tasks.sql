-- What each task is, by all its events: of each fact the last that was said, by (time,
-- sequence, state, id). submitted, queued and scheduled are the first times, the others
-- the last; scheduled is also known by started. Waiting is from queued, or submitted, to
-- scheduled, up to now for who still waits; queueing again after an eviction is no part of
-- it. Running is from the last start to its end. Clocks of two senders may disagree: no
-- time is below 0. What stands for others has counted 0: they are what is added up.
CREATE OR REPLACE VIEW {{.DB}}.tasks{{.OnCluster}} AS
SELECT
    * EXCEPT (devices_node, devices_last),
    if(devices_node = node, devices_last, []) AS devices,
    state IN ('cancelled', 'failed', 'finished') AS ended,
    coalesce(scheduled, if(ended, changed, NULL)) AS waiting_until,
    coalesce(if(queued > scheduled, NULL, queued), submitted) AS waiting_since,
    dateDiff('millisecond', waiting_since, coalesce(waiting_until, now64(3, 'UTC'))) / 1000 AS waited,
    dateDiff('millisecond', started, changed) / 1000 AS ran,
    if(waited < 0, 0, waited) AS queue_seconds,
    if(state IN ('evicted', 'cancelled', 'failed', 'finished'), if(ran < 0, 0, ran), NULL) AS run_seconds,
    {{.Counted (print .DB ".task_events") "1"}} AS counted
FROM
(
    SELECT
        e.cluster AS cluster,
        e.task AS task,
        argMaxIf(e.state, e.place, e.state != 'updated') AS state,
        argMaxIf(e.time, e.place, e.state != 'updated') AS changed,
        argMaxIf(e.kind, e.place, e.kind != '') AS kind,
        argMaxIf(e.name, e.place, e.name != '') AS name,
        argMaxIf(e.namespace, e.place, e.namespace != '') AS namespace,
        argMaxIf(e.tenant, e.place, e.tenant != '') AS tenant,
        argMaxIf(e.queue, e.place, e.queue != '') AS queue,
        argMaxIf(e.type, e.place, e.type != '') AS type,
        argMaxIf(e.priority_class, e.place, e.priority_class != '') AS priority_class,
        argMaxIf(e.qos, e.place, e.qos != '') AS qos,
        argMaxIf(e.priority, e.place, e.priority IS NOT NULL) AS priority,
        argMaxIf(e.owner_kinds, e.place, notEmpty(e.owner_kinds)) AS owner_kinds,
        argMaxIf(e.owner_names, e.place, notEmpty(e.owner_kinds)) AS owner_names,
        argMaxIf(e.owner_ids, e.place, notEmpty(e.owner_kinds)) AS owner_ids,
        argMaxIf(e.group_id, e.place, e.group_id != '') AS group_id,
        argMaxIf(e.group_size, e.place, e.group_size != 0) AS group_size,
        argMaxIf(e.dependencies, e.place, notEmpty(e.dependencies)) AS dependencies,
        argMaxIf(e.node, e.place, e.node != '') AS node,
        argMaxIf(e.node, e.place, notEmpty(e.devices)) AS devices_node,
        argMaxIf(e.devices, e.place, notEmpty(e.devices)) AS devices_last,
        argMaxIf(e.requests, e.place, notEmpty(e.requests)) AS requests,
        argMaxIf(e.limits, e.place, notEmpty(e.limits)) AS limits,
        argMaxIf(e.deadline, e.place, e.deadline IS NOT NULL) AS deadline,
        argMaxIf(e.max_queue_seconds, e.place, e.max_queue_seconds IS NOT NULL) AS max_queue_seconds,
        argMaxIf(e.latency_target_seconds, e.place, e.latency_target_seconds IS NOT NULL) AS latency_target_seconds,
        argMaxIf(e.labels, e.place, notEmpty(e.labels)) AS labels,
        max(e.simulated) AS simulated,
        argMaxIf(e.reason, e.place, e.state != 'updated') AS reason,
        argMaxIf(tuple(e.exit_code), e.place, e.state != 'updated').1 AS exit_code,
        minOrNullIf(e.time, e.state = 'submitted') AS submitted,
        minOrNullIf(e.time, e.state = 'queued') AS queued,
        minOrNullIf(e.time, e.state IN ('scheduled', 'started')) AS scheduled,
        maxOrNullIf(e.time, e.state = 'started') AS started,
        maxOrNullIf(e.time, e.state = 'evicted') AS evicted,
        maxOrNullIf(e.time, e.state = 'cancelled') AS cancelled,
        maxOrNullIf(e.time, e.state = 'failed') AS failed,
        maxOrNullIf(e.time, e.state = 'finished') AS finished,
        countIf(e.state = 'started') AS attempts,
        countIf(e.state = 'evicted') AS evictions,
        count() AS events
    FROM
    (
        SELECT
            *,
            (time, sequence, indexOf(['updated', 'submitted', 'queued', 'scheduled', 'started', 'evicted', 'cancelled', 'failed', 'finished'], state), event_id) AS place
        FROM {{.DB}}.task_events FINAL
    ) AS e
    GROUP BY cluster, task
)
