-- What each device did in each slot of the hour, by the corrected rows of device_monitoring. A
-- row at a tick describes the slot before it. A slot without a row, or without a reading, is a
-- gap, and no idle time. Exporters that do not know a device's id name its place; the device is
-- the one that the inventory has there.
SELECT
    v.node AS node, coalesce(nullIf(k.device, ''), v.uid) AS device, intDiv(toUnixTimestamp64Milli(v.tick), {{.Step}}) - 1 AS slot, avg(v.busy_ratio) AS busy,
    max(ifNull(v.memory_bandwidth_ratio >= 0.6 AND v.memory_bandwidth_ratio > greatest(ifNull(v.tensor_ratio, 0), ifNull(v.compute_ratio, 0)), 0)) AS memory_bound,
    max(ifNull(v.power_headroom_ratio <= 0.02, 0)) AS capped, max(ifNull(v.throttled_ratio_1m, 0)) AS throttled, max(ifNull(v.memory_used_ratio, 0)) AS memory_used,
    avg(v.power_watts) AS watts, max(v.temperature_celsius) AS heat, min(ifNull(v.health, 1)) AS health
FROM {{.DB}}.{{ident .DeviceRows}} AS v
LEFT JOIN ({{.Places}}) AS k ON k.node = v.node AND k.place = v.uid
WHERE v.tick > {hour:DateTime64(3, 'UTC')} AND v.tick <= {until:DateTime64(3, 'UTC')} AND cityHash64(v.node) % {buckets:UInt64} = {bucket:UInt64}
GROUP BY node, device, slot
