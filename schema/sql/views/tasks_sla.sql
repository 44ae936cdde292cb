-- A row for each promise that was broken, and for each task that failed or was evicted:
-- which, when, and how it stood with the task. A promise can be broken before the task
-- ends.
CREATE OR REPLACE VIEW {{.DB}}.tasks_sla{{.OnCluster}} AS
SELECT
    cluster, task, tupleElement(violation, 1) AS cause, assumeNotNull(tupleElement(violation, 2)) AS time,
    tenant, queue, type, priority_class, state, node, devices, reason, deadline, max_queue_seconds, queue_seconds, evictions
FROM {{.DB}}.tasks
ARRAY JOIN arrayFilter(v -> tupleElement(v, 2) IS NOT NULL,
[
    ('deadline_missed', if(deadline < if(ended, changed, now64(3, 'UTC')), deadline, NULL)),
    ('queue_time_exceeded', if(queue_seconds > max_queue_seconds, addMilliseconds(waiting_since, toInt64(max_queue_seconds * 1000)), NULL)),
    ('failed', if(state = 'failed', failed, NULL)),
    ('evicted', evicted)
]) AS violation
ORDER BY cluster, task, time, cause
