-- The snapshot of a tick, made of one of the same day that is not after it: tasks of which no
-- event came or happened since are copied, with the times that run on; the others are folded
-- anew, from all their events, so that it is the whole fold, event by event. An owner that an
-- event names since takes its task out of what is counted; none comes back within a day.
INSERT INTO {{.DB}}.task_snapshots (run, cluster, task, state, changed, began, tenant, queue, type, priority, owners, group_id, group_size, dependencies,
    node, cpu_cores, memory_bytes, storage_bytes, accelerators, deadline, max_queue_seconds, latency_target_seconds, simulated, submitted, scheduled,
    started, evicted, attempts, evictions, ended, waits, bound, waiting_since, queue_seconds, run_seconds, counted)
WITH
    moved AS
    (
        SELECT cluster, task FROM {{.DB}}.task_log WHERE {{.Since}} GROUP BY cluster, task
    )
SELECT {run:UInt64}, cluster, task, state, changed, began, tenant, queue, type, priority, owners, group_id, group_size, dependencies,
    node, cpu_cores, memory_bytes, storage_bytes, accelerators, deadline, max_queue_seconds, latency_target_seconds, simulated, submitted, scheduled,
    started, evicted, attempts, evictions, ended, waits, bound, waiting_since,
    if(waited < 0, 0, waited) AS queue_seconds, if(ran < 0, 0, ran) AS run_seconds,
    was_counted AND (cluster, task) NOT IN (SELECT cluster, arrayJoin(owner_ids) FROM {{.DB}}.task_log WHERE {{.Since}} AND {{.Owning}}) AS counted
FROM
(
    SELECT * EXCEPT (queue_seconds, run_seconds, counted), counted AS was_counted,
        dateDiff('millisecond', waiting_since, coalesce(scheduled, if(ended, changed, NULL), {tick:DateTime64(3, 'UTC')})) / 1000 AS waited,
        dateDiff('millisecond', started, if(bound, {tick:DateTime64(3, 'UTC')}, changed)) / 1000 AS ran
    FROM {{.DB}}.task_snapshots
    WHERE run = {base:UInt64} AND (cluster, task) NOT IN (SELECT cluster, task FROM moved)
)
UNION ALL
SELECT {run:UInt64}, cluster, task, state, changed, began, tenant, queue, type, priority, owners, group_id, group_size, dependencies,
    node, cpu_cores, memory_bytes, storage_bytes, accelerators, deadline, max_queue_seconds, latency_target_seconds, simulated, submitted, scheduled,
    started, evicted, attempts, evictions, ended, waits, bound, waiting_since, queue_seconds, run_seconds, counted
FROM {{.DB}}.tasks_at(tick = {tick:DateTime64(3, 'UTC')}, known = {known:DateTime64(3, 'UTC')})
WHERE (cluster, task) IN (SELECT cluster, task FROM moved)
