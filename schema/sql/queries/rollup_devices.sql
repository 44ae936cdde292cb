-- What each accelerator did in the hour: the rows of device_monitoring, as late samples
-- corrected them; counters, whose increase over the hour is the sum of their steps, a step back
-- being a new beginning; and who held it, by rolled_allocations. A device is there from the
-- first inventory of its node, or the first reading, until the end.
INSERT INTO {{.DB}}.rolled_devices (hour, run, node, device, vendor, kind, model, cluster, node_group, zone, rack, simulated, capacity_seconds, observed_seconds,
    busy_seconds, allocated_seconds, idle_allocated_seconds, free_seconds, stranded_seconds, memory_bound_seconds, power_capped_seconds, throttled_seconds,
    memory_used_seconds, energy_joules, energy_from, watt_seconds, temperature_max, power_max, faults, errors_corrected, errors_uncorrected, unhealthy_seconds)
WITH
    {hour:DateTime64(3, 'UTC')} AS h0,
    {until:DateTime64(3, 'UTC')} AS h1
SELECT
    toDateTime(h0), {run:UInt64}, k.node AS node, k.device AS device, d.vendor, d.kind, d.model, if(d.device = '', 'default', d.cluster), d.node_group, d.zone, d.rack,
    if(d.device = '', ifNull(c.sim, 0), d.simulated),
    greatest(if(d.device = '', 0, dateDiff('millisecond', greatest(d.first, h0), h1) / 1000), ifNull(u.observed, 0)) AS capacity,
    ifNull(u.observed, 0), ifNull(u.busy, 0), least(ifNull(a.allocated, 0), capacity), ifNull(a.idle, 0), ifNull(u.free, 0), ifNull(u.stranded, 0),
    ifNull(u.memory_bound, 0), ifNull(u.capped, 0), ifNull(u.throttled, 0), ifNull(u.memory_used, 0),
    coalesce(c.joules, nullIf(u.watt_seconds, 0)), multiIf(c.joules IS NOT NULL, 'counter', u.watt_seconds > 0, 'power', ''), ifNull(u.watt_seconds, 0),
    u.hottest, u.power_max, ifNull(c.faults, 0), ifNull(c.corrected, 0), ifNull(c.uncorrected, 0), ifNull(u.unhealthy, 0)
FROM
(
    SELECT node, device FROM {{.DB}}.devices_at(known = {until:DateTime64(3, 'UTC')}) WHERE cityHash64(node) % {buckets:UInt64} = {bucket:UInt64}
    UNION DISTINCT
    SELECT DISTINCT node, device FROM ({{.Use}})
) AS k
LEFT JOIN {{.DB}}.devices_at(known = {until:DateTime64(3, 'UTC')}) AS d ON d.node = k.node AND d.device = k.device
LEFT JOIN
(
    SELECT
        w.node AS node, w.device AS device, countIf(w.busy IS NOT NULL) * {{.Step}} / 1000 AS observed, sum(w.busy) * {{.Step}} / 1000 AS busy,
        sumIf((1 - w.share) * {{.Step}} / 1000, w.busy IS NOT NULL) AS free,
        sumIf((1 - w.share) * {{.Step}} / 1000, w.node_share > 0 AND w.busy IS NOT NULL) AS stranded,
        countIf(w.memory_bound) * {{.Step}} / 1000 AS memory_bound, countIf(w.capped) * {{.Step}} / 1000 AS capped, sum(w.throttled) * {{.Step}} / 1000 AS throttled,
        sum(w.memory_used) * {{.Step}} / 1000 AS memory_used, sum(w.watts) * {{.Step}} / 1000 AS watt_seconds, max(w.heat) AS hottest, max(w.watts) AS power_max,
        countIf(w.health = 0) * {{.Step}} / 1000 AS unhealthy
    FROM
    (
        SELECT v.*, ifNull(h.share, 0) AS share, sum(ifNull(h.share, 0)) OVER (PARTITION BY v.node, v.slot) AS node_share
        FROM ({{.Use}}) AS v
        LEFT JOIN
        (
            -- Each slot's part of the device that is held: owners who share a slice hold it once.
            SELECT node, device, slot, least(sum(part), 1) AS share
            FROM
            (
                SELECT node, device, slice, slot, any(t.share) * least(sum(seconds) / ({{.Step}} / 1000), 1) AS part
                FROM {{.DB}}.rollup_slots AS t WHERE run = {run:UInt64}
                GROUP BY node, device, slice, slot
            )
            GROUP BY node, device, slot
        ) AS h ON h.node = v.node AND h.device = v.device AND h.slot = v.slot
    ) AS w
    GROUP BY node, device
) AS u ON u.node = k.node AND u.device = k.device
LEFT JOIN
(
    SELECT node, device, sum(allocated_seconds) AS allocated, sum(idle_seconds) AS idle
    FROM {{.DB}}.rolled_allocations
    WHERE hour = toDateTime({hour:DateTime64(3, 'UTC')}) AND run = {run:UInt64} AND cityHash64(node) % {buckets:UInt64} = {bucket:UInt64}
    GROUP BY node, device
) AS a ON a.node = k.node AND a.device = k.device
LEFT JOIN
(
    SELECT
        node, device, max(sim) AS sim,
        coalesce(maxOrNullIf(added, what = 'accel_energy_joules_total' AND slice = ''), sumOrNullIf(added, what = 'accel_energy_joules_total')) AS joules,
        toUInt64(sumIf(added, what = 'accel_fault_events')) AS faults,
        toUInt64(sumIf(added, what = 'accel_ecc_errors_total' AND class = 'correctable')) AS corrected,
        toUInt64(sumIf(added, what = 'accel_ecc_errors_total' AND class = 'uncorrectable')) AS uncorrected
    FROM
    (
        SELECT id, what, any(place) AS node, any(thing) AS device, any(part) AS slice, any(kind) AS class, max(mark) AS sim,
            if(what = 'accel_fault_events', sumIf(value, fresh), sumIf(step, fresh)) AS added,
            countIf(fresh AND (what = 'accel_fault_events' OR NOT isNaN(raw))) AS readings
        FROM
        (
            SELECT n.id AS id, n.name AS what, n.node AS place, coalesce(nullIf(k.device, ''), n.device) AS thing, n.slice AS part, n.class AS kind, n.sim AS mark, x.value AS value, x.ts >= h0 AS fresh,
                lagInFrame(x.value, 1, nan) OVER (PARTITION BY x.series ORDER BY x.ts) AS old,
                multiIf(isNaN(old), nan, x.value < old, x.value, x.value - old) AS raw,
                if(isNaN(raw), 0, raw) AS step
            FROM {{.DB}}.samples AS x FINAL
            INNER JOIN
            (
                SELECT id, any(z.name) AS name, any(z.node) AS node, any(z.labels) AS l, l['device'] AS device, l['slice'] AS slice, l['class'] AS class, l['simulated'] = 'true' AS sim
                FROM {{.DB}}.series AS z
                WHERE z.name IN ('accel_energy_joules_total', 'accel_ecc_errors_total', 'accel_fault_events') AND cityHash64(z.node) % {buckets:UInt64} = {bucket:UInt64}
                GROUP BY id
            ) AS n ON n.id = x.series
            LEFT JOIN ({{.Places}}) AS k ON k.node = n.node AND k.place = n.device
            WHERE x.ts >= h0 - INTERVAL 15 MINUTE AND x.ts < h1 AND NOT isNaN(x.value) AND bitAnd(x.flags, {{.Unusable}}) = 0
                AND x.series IN (SELECT id FROM {{.DB}}.series WHERE name IN ('accel_energy_joules_total', 'accel_ecc_errors_total', 'accel_fault_events')
                    AND cityHash64(node) % {buckets:UInt64} = {bucket:UInt64})
        )
        GROUP BY id, what
        HAVING readings > 0
    )
    GROUP BY node, device
) AS c ON c.node = k.node AND c.device = k.device
SETTINGS join_use_nulls = 0
