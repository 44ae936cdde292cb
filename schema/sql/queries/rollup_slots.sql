-- Who held what of which device in each slot of the hour, which is as long as the interval of
-- device_monitoring. Two sources tell: the scheduler, by
-- the devices of a task (to the millisecond), and the exporter, by accel_owner_info (a pod or a
-- job at each scrape, and the slice). Of one task on one device the scheduler's word counts,
-- unless the exporter knows a slice. An owner whose task nobody tells of keeps its namespace as
-- tenant. A slice is as much of its device as it has of the compute parts: of 7 in MIG (4 on an
-- A30), else of all that the layout has; of the memory where parts are not
-- known. What was held before the first inventory of the node is left out: the device counts from then.
INSERT INTO {{.DB}}.rollup_slots (run, node, device, slice, slot, cluster, task, tenant, queue, type, simulated, seconds, share)
WITH
    {hour:DateTime64(3, 'UTC')} AS h0,
    {until:DateTime64(3, 'UTC')} AS h1,
    bound AS
    (
        SELECT cluster, task, name, namespace, tenant, queue, type, simulated, toUnixTimestamp64Milli(a) AS at, toUnixTimestamp64Milli(b) AS upto, n AS node, ds AS devices
        FROM {{.DB}}.rolled_tasks
        ARRAY JOIN bound_from AS a, bound_to AS b, bound_node AS n, bound_devices AS ds
        WHERE hour = toDateTime({hour:DateTime64(3, 'UTC')}) AND run = {run:UInt64} AND counted AND cityHash64(n) % {buckets:UInt64} = {bucket:UInt64}
    ),
    told AS
    (
        SELECT node, device, '' AS slice, slot, cluster, task, tenant, queue, type, simulated,
            sum(least(upto, (slot + 1) * {{.Step}}) - greatest(at, slot * {{.Step}})) / 1000 AS seconds
        FROM (SELECT * EXCEPT (devices), arrayJoin(devices) AS device FROM bound)
        ARRAY JOIN range(intDiv(at, {{.Step}}), intDiv(upto - 1, {{.Step}}) + 1) AS slot
        GROUP BY node, device, slot, cluster, task, tenant, queue, type, simulated
    ),
    owners AS
    (
        SELECT n.node AS node, coalesce(nullIf(k.device, ''), n.device) AS device, n.slice AS slice, n.namespace AS namespace, n.pod AS pod, n.job AS job, max(n.sim) AS sim,
            intDiv(toUnixTimestamp64Milli(s.ts), {{.Step}}) AS slot
        FROM {{.DB}}.samples AS s FINAL
        INNER JOIN
        (
            SELECT id, any(z.node) AS node, any(z.labels) AS l, l['device'] AS device, splitByChar('/', l['slice'])[1] AS slice, l['namespace'] AS namespace, l['pod'] AS pod,
                if(l['job_id'] != '', l['job_id'], l['hpc_job']) AS job, l['simulated'] = 'true' AS sim
            FROM {{.DB}}.series AS z
            WHERE z.name = 'accel_owner_info' AND cityHash64(z.node) % {buckets:UInt64} = {bucket:UInt64}
            GROUP BY id
        ) AS n ON n.id = s.series
        LEFT JOIN ({{.Places}}) AS k ON k.node = n.node AND k.place = n.device
        WHERE s.ts >= h0 AND s.ts < h1 AND NOT isNaN(s.value) AND bitAnd(s.flags, {{.Unusable}}) = 0
            AND s.series IN (SELECT id FROM {{.DB}}.series WHERE name = 'accel_owner_info' AND cityHash64(node) % {buckets:UInt64} = {bucket:UInt64})
        GROUP BY node, device, slice, namespace, pod, job, slot
    ),
    seen AS
    (
        SELECT o.node AS node, o.device AS device, o.slice AS slice, o.slot AS slot,
            if(b.task = '', '', b.cluster) AS cluster,
            multiIf(b.task != '', b.task, o.pod != '', concat(o.namespace, '/', o.pod), o.job) AS task,
            if(b.task = '', o.namespace, b.tenant) AS tenant, b.queue AS queue, b.type AS type,
            toUInt8(o.sim OR b.simulated) AS simulated, {{.Step}} / 1000 AS seconds
        FROM owners AS o
        LEFT JOIN
        (
            SELECT node, namespace AS space, name AS owner, slot, any(cluster) AS cluster, argMax(task, at) AS task, any(tenant) AS tenant, any(queue) AS queue, any(type) AS type, max(simulated) AS simulated
            FROM bound
            ARRAY JOIN range(intDiv(at, {{.Step}}), intDiv(upto - 1, {{.Step}}) + 1) AS slot
            GROUP BY node, space, owner, slot
            UNION ALL
            SELECT node, '' AS space, task AS owner, slot, any(cluster), any(task), any(tenant), any(queue), any(type), max(simulated)
            FROM bound
            ARRAY JOIN range(intDiv(at, {{.Step}}), intDiv(upto - 1, {{.Step}}) + 1) AS slot
            GROUP BY node, owner, slot
        ) AS b ON b.node = o.node AND b.space = if(o.pod = '', '', o.namespace) AND b.owner = if(o.pod = '', o.job, o.pod) AND b.slot = o.slot
        WHERE o.pod != '' OR o.job != ''
    ),
    held AS
    (
        SELECT * FROM told WHERE (node, device, cluster, task) NOT IN (SELECT node, device, cluster, task FROM seen WHERE slice != '')
        UNION ALL
        SELECT node, device, slice, slot, cluster, task, tenant, queue, type, simulated, seconds FROM seen
        WHERE slice != '' OR (node, device, cluster, task) NOT IN (SELECT node, device, cluster, task FROM told)
    )
SELECT
    {run:UInt64}, h.node, h.device, h.slice, h.slot, h.cluster, h.task, h.tenant, h.queue, h.type, h.simulated, h.seconds,
    multiIf(h.slice = '', 1, p.share > 0, p.share, 1 / c.slices) AS share
FROM held AS h
LEFT JOIN
(
    SELECT
        node, device, if(startsWith(slice_kind, 'mig'), replaceRegexpAll(slice_id, 'gi|ci', ''), slice_id) AS slice,
        multiIf(
            slice_part > 0 AND startsWith(slice_kind, 'mig'), least(slice_part / if(model LIKE '%A30%', 4, 7), 1),
            slice_part > 0, slice_part / arraySum(slice_cores),
            slice_size > 0 AND memory_bytes > 0, least(slice_size / memory_bytes, 1), 0) AS share
    FROM {{.DB}}.devices_at(known = {until:DateTime64(3, 'UTC')})
    ARRAY JOIN slice_ids AS slice_id, slice_kinds AS slice_kind, arrayResize(slice_bytes, length(slice_ids)) AS slice_size, arrayResize(slice_cores, length(slice_ids)) AS slice_part
) AS p ON p.node = h.node AND p.device = h.device AND p.slice = h.slice
LEFT JOIN
(
    SELECT node, device, uniqExact(slice) AS slices FROM owners WHERE slice != '' GROUP BY node, device
) AS c ON c.node = h.node AND c.device = h.device
LEFT JOIN
(
    SELECT node, min(first) AS since FROM {{.DB}}.devices_at(known = {until:DateTime64(3, 'UTC')}) GROUP BY node
) AS f ON f.node = h.node
WHERE f.node = '' OR (h.slot + 1) * {{.Step}} > toUnixTimestamp64Milli(f.since)
