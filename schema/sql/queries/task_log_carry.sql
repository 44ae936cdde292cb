-- Carries to a day the events of the tasks that had not ended when it began, or had within
-- the day before. It takes the events of the day itself too: those that came before the table
-- was there. Run again it adds nothing.
INSERT INTO {{.DB}}.task_log
SELECT
    {day:Date} AS day, cluster, task,
    bitOr(bitOr(bitOr(bitOr(
        bitShiftLeft(toUInt256(toUnixTimestamp64Milli(time)), 208),
        bitShiftLeft(toUInt256(sequence), 144)),
        bitShiftLeft(toUInt256(indexOf(['updated', 'submitted', 'queued', 'scheduled', 'started', 'evicted', 'cancelled', 'failed', 'finished'], state)), 136)),
        bitShiftLeft(toUInt256(reinterpretAsUInt128(reverse(rightPad(substring(event_id, 1, 12), 12, char(0))))), 40)),
        toUInt256(bitAnd(content, 0xffffffffff))) AS place,
    ingest, time, state, kind, tenant, queue, type, priority, toUInt8(length(owner_kinds)) AS owners, owner_ids, group_id, group_size, dependencies,
    node, devices, toUInt8(notEmpty(requests)) AS requests, e.requests['cpu_cores'] AS cpu_cores, e.requests['memory_bytes'] AS memory_bytes,
    e.requests['ephemeral_storage_bytes'] AS storage_bytes,
    arraySum(mapValues(mapFilter((k, v) -> startsWith(k, 'accelerators_'), e.requests))) AS accelerators,
    deadline, max_queue_seconds, latency_target_seconds, simulated
FROM {{.DB}}.task_events AS e
WHERE e.ingest < {day:Date} + INTERVAL 1 DAY AND (cluster, task) IN
(
    SELECT cluster, task
    FROM {{.DB}}.task_events
    WHERE ingest < {day:Date} + INTERVAL 1 DAY
    GROUP BY cluster, task
    HAVING
        argMaxIf(state, (time, sequence, indexOf(['updated', 'submitted', 'queued', 'scheduled', 'started', 'evicted', 'cancelled', 'failed', 'finished'], state)),
            state != 'updated' AND ingest < {day:Date}) NOT IN ('cancelled', 'failed', 'finished')
        OR maxIf(time, state != 'updated' AND ingest < {day:Date}) >= {day:Date} - INTERVAL 1 DAY
){{.JoinLocally}}
