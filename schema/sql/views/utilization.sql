-- Where the hours of accelerators went, between two times: utilization(from = …, to = …), whole
-- hours. A row is what one task held of one device in one hour, or, with an empty task, what
-- nobody held of it; so over any grouping capacity_hours adds up to the devices that there are.
-- Columns are as in device_hours. Energy is divided by power while it was held. A slice counts
-- as its part of the device.
CREATE OR REPLACE VIEW {{.DB}}.utilization{{.OnCluster}} AS
WITH
    d AS
    (
        SELECT * FROM {{.DB}}.rolled_devices
        WHERE hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')} AND {{.InForce}}
    ),
    a AS
    (
        SELECT * FROM {{.DB}}.rolled_allocations
        WHERE hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')} AND {{.InForce}}
    )
SELECT
    d.hour AS hour, d.cluster AS cluster, d.node AS node, d.node_group AS node_group, d.zone AS zone, d.rack AS rack, d.vendor AS vendor, d.kind AS kind,
    d.model AS model, d.device AS device, d.simulated AS simulated, a.tenant AS tenant, a.queue AS queue, a.type AS type, a.task AS task,
    a.allocated_seconds / 3600 AS capacity_hours, a.observed_seconds / 3600 AS observed_hours, (a.allocated_seconds - a.observed_seconds) / 3600 AS unknown_hours,
    a.busy_seconds / 3600 AS used_hours, a.allocated_seconds / 3600 AS allocated_hours, a.idle_seconds / 3600 AS idle_allocated_hours, 0. AS free_hours, 0. AS stranded_hours,
    a.memory_bound_seconds / 3600 AS memory_bound_hours, a.power_capped_seconds / 3600 AS power_capped_hours,
    d.energy_joules / 3.6e6 * if(d.watt_seconds > 0, least(a.watt_seconds / d.watt_seconds, 1), a.allocated_seconds / nullIf(d.capacity_seconds, 0)) AS energy_kwh
FROM a
INNER JOIN d ON d.hour = a.hour AND d.node = a.node AND d.device = a.device
UNION ALL
SELECT
    d.hour, d.cluster, d.node, d.node_group, d.zone, d.rack, d.vendor, d.kind, d.model, d.device, d.simulated, '', '', '', '',
    greatest(d.capacity_seconds - s.allocated, 0) / 3600 AS capacity, greatest(d.observed_seconds - s.observed, 0) / 3600 AS observed, greatest(capacity - observed, 0),
    greatest(d.busy_seconds - s.busy, 0) / 3600, 0., 0., d.free_seconds / 3600, d.stranded_seconds / 3600, greatest(d.memory_bound_seconds - s.memory_bound, 0) / 3600,
    greatest(d.power_capped_seconds - s.capped, 0) / 3600,
    d.energy_joules / 3.6e6 * greatest(1 - if(d.watt_seconds > 0, least(s.watts / d.watt_seconds, 1), s.allocated / nullIf(d.capacity_seconds, 0)), 0)
FROM d
LEFT JOIN
(
    SELECT hour, node, device, sum(allocated_seconds) AS allocated, sum(observed_seconds) AS observed, sum(busy_seconds) AS busy,
        sum(memory_bound_seconds) AS memory_bound, sum(power_capped_seconds) AS capped, sum(watt_seconds) AS watts
    FROM a
    GROUP BY hour, node, device
) AS s ON s.hour = d.hour AND s.node = d.node AND s.device = d.device{{.JoinLocally}}
