-- How long the tasks of each tenant, queue and type waited and ran: those that were placed,
-- and those that ended.
CREATE OR REPLACE VIEW {{.DB}}.tasks_times{{.OnCluster}} AS
SELECT
    cluster, tenant, queue, type, count() AS tasks,
    countIf(scheduled IS NOT NULL) AS placed,
    avgIf(queue_seconds, scheduled IS NOT NULL) AS queue_seconds_avg,
    quantileExactIf(0.5)(queue_seconds, scheduled IS NOT NULL) AS queue_seconds_p50,
    quantileExactIf(0.95)(queue_seconds, scheduled IS NOT NULL) AS queue_seconds_p95,
    countIf(state = 'finished') AS finished,
    countIf(state = 'failed') AS failed,
    avgIf(run_seconds, state = 'finished') AS run_seconds_avg,
    quantileExactIf(0.5)(run_seconds, state = 'finished') AS run_seconds_p50,
    quantileExactIf(0.95)(run_seconds, state = 'finished') AS run_seconds_p95
FROM {{.DB}}.tasks
WHERE counted
GROUP BY cluster, tenant, queue, type
ORDER BY cluster, tenant, queue, type
