-- What each accelerator did in each hour, in hours of the device: there (capacity), with a
-- reading (observed), without one (unknown, which is not idle), busy (used), held by tasks
-- (allocated), held and idle (busy for less than 5 %), free, and free beside held ones on
-- its node (stranded). It reads tables rolled_*, and no samples.
CREATE OR REPLACE VIEW {{.DB}}.device_hours{{.OnCluster}} AS
SELECT
    hour, cluster, node, node_group, zone, rack, vendor, kind, model, device, simulated,
    capacity_seconds / 3600 AS capacity_hours, observed_seconds / 3600 AS observed_hours, greatest(capacity_seconds - observed_seconds, 0) / 3600 AS unknown_hours,
    busy_seconds / 3600 AS used_hours, allocated_seconds / 3600 AS allocated_hours, idle_allocated_seconds / 3600 AS idle_allocated_hours,
    free_seconds / 3600 AS free_hours, stranded_seconds / 3600 AS stranded_hours, memory_bound_seconds / 3600 AS memory_bound_hours, power_capped_seconds / 3600 AS power_capped_hours,
    throttled_seconds / 3600 AS throttled_hours, memory_used_seconds / 3600 AS memory_used_hours,
    energy_joules / 3.6e6 AS energy_kwh, energy_from, temperature_max AS temperature_max_celsius, power_max AS power_max_watts,
    faults, errors_corrected, errors_uncorrected, unhealthy_seconds / 3600 AS unhealthy_hours
FROM {{.DB}}.rolled_devices
WHERE {{.InForce}}
