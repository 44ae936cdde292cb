-- What is bound to each node: its tasks and what they asked for.
CREATE OR REPLACE VIEW {{.DB}}.tasks_running{{.OnCluster}} AS
SELECT
    cluster, node, count() AS running, countIf(state = 'started') AS started,
    sum(requests['cpu_cores']) AS cpu_cores,
    sum(requests['memory_bytes']) AS memory_bytes,
    sum(arraySum(mapValues(mapFilter((k, v) -> startsWith(k, 'accelerators_'), requests)))) AS accelerators,
    arraySort(groupUniqArrayArray(devices)) AS devices,
    arraySort(groupArray(task)) AS tasks
FROM {{.DB}}.tasks
WHERE counted AND state IN ('scheduled', 'started') AND node != ''
GROUP BY cluster, node
ORDER BY cluster, node
