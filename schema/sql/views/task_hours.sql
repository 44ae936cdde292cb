-- What each task did in each hour that it lived in: waited, was bound, was placed first, ended;
-- and the promises to it of which it turned out in the hour whether they are kept. queue_seconds
-- is its wait until it was first placed, run_seconds its last run, total_seconds the time from
-- its submission to its end. What stands for others is not in it.
CREATE OR REPLACE VIEW {{.DB}}.task_hours{{.OnCluster}} AS
SELECT
    hour, if(cluster = '', 'default', cluster) AS cluster, task, name, namespace, tenant, queue, type, node, state, simulated, cpu_cores, memory_bytes, accelerators,
    wait_seconds / 3600 AS wait_hours, bound_seconds / 3600 AS bound_hours, accelerators * bound_seconds / 3600 AS requested_hours,
    placed, ended, evictions, submitted, queue_seconds, run_seconds, total_seconds,
    queue_kept, queue_broken, deadline_kept, deadline_broken, latency_kept, latency_broken
FROM {{.DB}}.rolled_tasks
WHERE counted AND {{.InForce}}
