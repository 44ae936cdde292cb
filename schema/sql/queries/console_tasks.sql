-- Tasks that lived between two times, with the promises that they broke. The log of tasks by
-- day bounds whose events are folded: it has each task on each day that it lived.
SELECT
    t.cluster, t.task, t.name, t.kind, t.type, t.state, t.tenant, t.queue, t.node, t.devices, t.priority,
    arraySum(mapValues(mapFilter((k, v) -> startsWith(k, 'accelerators_'), t.requests))), t.requests['cpu_cores'], t.requests['memory_bytes'],
    coalesce(t.submitted, t.queued, t.scheduled, t.started, t.changed), t.waiting_since, t.scheduled, t.started, t.evicted, t.changed, t.ended,
    t.deadline, t.max_queue_seconds, t.evictions, t.reason, t.simulated = 1,
    b.kinds, b.times, b.promised, b.measured
FROM {{.DB}}.tasks AS t
LEFT JOIN
(
    SELECT cluster, task, groupArray(toString(kind)) AS kinds, groupArray(breached) AS times, groupArray(promised) AS promised, groupArray(measured) AS measured
    FROM (SELECT * FROM {{.DB}}.sla_events FINAL ORDER BY breached)
    GROUP BY cluster, task
) AS b ON b.cluster = t.cluster AND b.task = t.task
WHERE (t.cluster, t.task) IN
    (
        SELECT cluster, task FROM {{.DB}}.task_log
        WHERE day >= toDate({from:DateTime64(3, 'UTC')}) - 1 AND day <= toDate({to:DateTime64(3, 'UTC')}) + 1
    )
    AND coalesce(t.submitted, t.queued, t.scheduled, t.started, t.changed) <= {to:DateTime64(3, 'UTC')}
    AND (NOT t.ended OR t.changed >= {from:DateTime64(3, 'UTC')})
    AND ({state:String} = '' OR t.state = {state:String})
    AND ({tenant:String} = '' OR t.tenant = {tenant:String})
    AND ({queue:String} = '' OR t.queue = {queue:String})
    AND ({node:String} = '' OR t.node = {node:String})
ORDER BY t.ended, t.changed DESC, t.cluster, t.task
LIMIT {limit:UInt64}
