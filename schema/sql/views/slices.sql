-- The slices of each device (MIG instances, vNPUs, partitions, tiles): what they are, who
-- has them, and what is measured of them. The layout is of the newest inventory, readings
-- and owners are of the last minute; a slice that only one of the two knows is here too. A
-- list of owners is what is allocated. The rest is use, and NULL where the source does not
-- measure the slice itself: a reading of the whole device is never a slice's.
CREATE OR REPLACE VIEW {{.DB}}.slices{{.OnCluster}} AS
SELECT
    node, vendor, device, slice,
    max(part_kind) AS kind,
    max(part_profile) AS profile,
    nullIf(max(part_bytes), 0) AS memory_bytes,
    nullIf(max(part_cores), 0) AS cores,
    arraySort(groupUniqArrayArray(part_owners)) AS owners,
    max(part_used) AS mem_used_bytes,
    max(part_busy) AS busy_ratio,
    max(part_active) AS engine_active_ratio,
    max(part_newest) AS newest,
    max(part_simulated) AS simulated
FROM
(
    SELECT
        node, vendor, if(uid = '', concat('pci:', id), id) AS device,
        if(startsWith(slice_kind, 'mig'), replaceRegexpAll(slice_id, 'gi|ci', ''), slice_id) AS slice,
        toString(slice_kind) AS part_kind, toString(slice_profile) AS part_profile, toFloat64(slice_size) AS part_bytes, toFloat64(slice_part) AS part_cores,
        CAST([], 'Array(String)') AS part_owners,
        CAST(NULL, 'Nullable(Float64)') AS part_used, CAST(NULL, 'Nullable(Float64)') AS part_busy, CAST(NULL, 'Nullable(Float64)') AS part_active,
        CAST(NULL, 'Nullable(DateTime64(3, \'UTC\'))') AS part_newest, toUInt8(simulated) AS part_simulated
    FROM {{.DB}}.devices
    ARRAY JOIN slice_ids AS slice_id, slice_kinds AS slice_kind, slice_profiles AS slice_profile,
        arrayResize(slice_bytes, length(slice_ids)) AS slice_size, arrayResize(slice_cores, length(slice_ids)) AS slice_part
    UNION ALL
    SELECT
        n.node, n.labels['vendor'], n.labels['device'], n.labels['slice'],
        '', maxIf(n.labels['profile'], n.name = 'accel_slice_info'),
        ifNull(argMaxOrNullIf(s.value, s.ts, n.name = 'accel_mem_total_bytes'), 0), 0.,
        groupUniqArrayIf(arrayStringConcat(arrayFilter(x -> x != '', [n.labels['namespace'], n.labels['pod'], n.labels['container'], n.labels['hpc_job'], n.labels['job_id']]), '/'), n.name = 'accel_owner_info'),
        argMaxOrNullIf(s.value, s.ts, n.name = 'accel_mem_used_bytes'),
        argMaxOrNullIf(s.value, s.ts, n.name = 'accel_busy_ratio'),
        argMaxOrNullIf(s.value, s.ts, n.name = 'accel_engine_active_ratio'),
        max(s.ts), toUInt8(max(n.labels['simulated'] = 'true'))
    FROM {{.DB}}.samples AS s FINAL
    INNER JOIN {{.DB}}.series AS n FINAL ON n.id = s.series
    WHERE s.ts > now64(3) - INTERVAL 1 MINUTE
        AND s.series IN (SELECT id FROM {{.DB}}.series WHERE name LIKE 'accel\\_%' AND labels['slice'] != '')
        AND NOT isNaN(s.value) AND bitAnd(s.flags, {{.Unusable}}) = 0
    GROUP BY n.node, n.labels['vendor'], n.labels['device'], n.labels['slice']
)
GROUP BY node, vendor, device, slice
ORDER BY node, vendor, device, slice{{.JoinLocally}}
