-- What was made of what each task held: the slots of rollup_slots beside the rows of
-- device_monitoring. A slice that is measured itself counts by its own reading. Owners who
-- share a device or slice at a time have equal parts of it.
INSERT INTO {{.DB}}.rolled_allocations (hour, run, node, device, slice, cluster, task, tenant, queue, type, simulated, share, allocated_seconds, observed_seconds,
    busy_seconds, idle_seconds, memory_bound_seconds, power_capped_seconds, watt_seconds)
WITH
    {hour:DateTime64(3, 'UTC')} AS h0,
    {until:DateTime64(3, 'UTC')} AS h1
SELECT
    toDateTime(h0), {run:UInt64}, node, device, slice, cluster, task, any(tenant), any(queue), any(type), max(simulated), avg(share),
    sum(weight), sumIf(weight, busy IS NOT NULL), ifNull(sum(weight * busy), 0), sumIf(weight, busy < 0.05),
    sumIf(weight, bound), sumIf(weight, capped), ifNull(sum(weight * watts), 0)
FROM
(
    SELECT
        s.node AS node, s.device AS device, s.slice AS slice, s.cluster AS cluster, s.task AS task, s.tenant AS tenant, s.queue AS queue, s.type AS type,
        s.simulated AS simulated, s.share AS share,
        s.seconds * s.share / greatest(sum(s.seconds) OVER (PARTITION BY s.node, s.device, s.slice, s.slot) / ({{.Step}} / 1000), 1) AS weight,
        if(s.slice != '', coalesce(p.busy, u.busy), u.busy) AS busy, u.memory_bound AS bound, u.capped AS capped, u.watts AS watts
    FROM (SELECT * FROM {{.DB}}.rollup_slots WHERE run = {run:UInt64}) AS s
    LEFT JOIN ({{.Use}}) AS u ON u.node = s.node AND u.device = s.device AND u.slot = s.slot
    LEFT JOIN
    (
        SELECT n.node AS node, coalesce(nullIf(k.device, ''), n.device) AS device, n.slice AS slice, intDiv(toUnixTimestamp64Milli(x.ts), {{.Step}}) AS slot,
            coalesce(avgOrNullIf(x.value, n.name = 'accel_busy_ratio'), avgOrNullIf(x.value, n.name = 'accel_engine_active_ratio')) AS busy
        FROM {{.DB}}.samples AS x FINAL
        INNER JOIN
        (
            SELECT id, any(z.node) AS node, any(z.name) AS name, any(z.labels) AS l, l['device'] AS device, splitByChar('/', l['slice'])[1] AS slice
            FROM {{.DB}}.series AS z
            WHERE z.name IN ('accel_busy_ratio', 'accel_engine_active_ratio') AND z.labels['slice'] != '' AND cityHash64(z.node) % {buckets:UInt64} = {bucket:UInt64}
            GROUP BY id
        ) AS n ON n.id = x.series
        LEFT JOIN ({{.Places}}) AS k ON k.node = n.node AND k.place = n.device
        WHERE x.ts >= h0 AND x.ts < h1 AND NOT isNaN(x.value) AND bitAnd(x.flags, {{.Unusable}}) = 0
            AND x.series IN (SELECT id FROM {{.DB}}.series WHERE name IN ('accel_busy_ratio', 'accel_engine_active_ratio') AND labels['slice'] != ''
                AND cityHash64(node) % {buckets:UInt64} = {bucket:UInt64})
        GROUP BY node, device, slice, slot
    ) AS p ON p.node = s.node AND p.device = s.device AND p.slice = s.slice AND p.slot = s.slot
    SETTINGS join_use_nulls = 1
)
GROUP BY node, device, slice, cluster, task
