-- What the tasks of each tenant and queue hold, and what those that wait ask for.
CREATE OR REPLACE VIEW {{.DB}}.tasks_usage{{.OnCluster}} AS
SELECT
    cluster, tenant, queue,
    countIf(bound) AS running, countIf(waits) AS waiting,
    sumIf(requests['cpu_cores'], bound) AS cpu_cores, sumIf(requests['cpu_cores'], waits) AS cpu_cores_waiting,
    sumIf(requests['memory_bytes'], bound) AS memory_bytes, sumIf(requests['memory_bytes'], waits) AS memory_bytes_waiting,
    sumIf(wanted, bound) AS accelerators, sumIf(wanted, waits) AS accelerators_waiting,
    maxOrNullIf(queue_seconds, waits AND evictions = 0) AS longest_wait_seconds
FROM
(
    SELECT
        cluster, tenant, queue, requests, queue_seconds, evictions,
        state IN ('scheduled', 'started') AS bound,
        state IN ('submitted', 'queued', 'evicted') AS waits,
        arraySum(mapValues(mapFilter((k, v) -> startsWith(k, 'accelerators_'), requests))) AS wanted
    FROM {{.DB}}.tasks
    WHERE counted
)
GROUP BY cluster, tenant, queue
ORDER BY cluster, tenant, queue
