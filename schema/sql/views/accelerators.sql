-- The newest readings of each accelerator, over all vendors with one meaning: busy as a
-- ratio of 0 to 1, memory in bytes, power in watts, temperature in degrees Celsius. A
-- reading that is older than a minute, or that the vendor does not give, is NULL. Rows are
-- of whole devices; a slice (MIG, vNPU, partition) has a row of its own with its name in
-- slice. A device whose memory is only told of its slices has their sum. owners are those
-- that the row is given to, a list because devices are shared; what they use is not in it.
CREATE OR REPLACE VIEW {{.DB}}.accelerators{{.OnCluster}} AS
SELECT
    node, vendor, device, slice, busy_ratio,
    if(slice = '', ifNull(used, sumOrNullIf(used, slice != '' AND position(slice, '/') = 0) OVER whole), used) AS mem_used_bytes,
    if(slice = '', ifNull(total, sumOrNullIf(total, slice != '' AND position(slice, '/') = 0) OVER whole), total) AS mem_total_bytes,
    power_watts, temp_celsius, owners, newest, simulated
FROM
(
    SELECT
        n.node AS node,
        n.labels['vendor'] AS vendor,
        n.labels['device'] AS device,
        n.labels['slice'] AS slice,
        argMaxOrNullIf(s.value, s.ts, n.name = 'accel_busy_ratio') AS busy_ratio,
        argMaxOrNullIf(s.value, s.ts, n.name = 'accel_mem_used_bytes') AS used,
        argMaxOrNullIf(s.value, s.ts, n.name = 'accel_mem_total_bytes') AS total,
        argMaxOrNullIf(s.value, s.ts, n.name = 'accel_power_watts') AS power_watts,
        argMaxOrNullIf(s.value, s.ts, n.name = 'accel_temp_celsius' AND n.labels['sensor'] = 'core') AS temp_celsius,
        arraySort(groupUniqArrayIf(arrayStringConcat(arrayFilter(x -> x != '', [n.labels['namespace'], n.labels['pod'], n.labels['container'], n.labels['hpc_job'], n.labels['job_id']]), '/'),
            n.name = 'accel_owner_info')) AS owners,
        max(s.ts) AS newest,
        n.labels['simulated'] = 'true' AS simulated
    FROM {{.DB}}.samples AS s FINAL
    INNER JOIN {{.DB}}.series AS n FINAL ON n.id = s.series
    WHERE s.ts > now64(3) - INTERVAL 1 MINUTE
        AND s.series IN (SELECT id FROM {{.DB}}.series WHERE name LIKE 'accel\\_%')
        AND NOT isNaN(s.value) AND bitAnd(s.flags, {{.Unusable}}) = 0
    GROUP BY node, vendor, device, slice, simulated
)
WINDOW whole AS (PARTITION BY node, vendor, device)
ORDER BY node, vendor, device, slice{{.JoinLocally}}
