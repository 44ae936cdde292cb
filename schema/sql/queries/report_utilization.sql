SELECT
    {{.Groups}}
    sum(capacity_hours) AS capacity_hours, sum(unknown_hours) AS unknown_hours, sum(allocated_hours) AS allocated_hours, sum(used_hours) AS used_hours,
    allocated_hours / nullIf(capacity_hours, 0) AS allocated_ratio, used_hours / nullIf(sum(observed_hours), 0) AS used_ratio,
    sum(idle_allocated_hours) AS idle_allocated_hours, sum(stranded_hours) AS stranded_hours,
    stranded_hours / nullIf(sum(u.free_hours), 0) AS fragmentation_ratio,
    sum(memory_bound_hours) AS memory_bound_hours, sum(power_capped_hours) AS power_capped_hours, sumOrNull(energy_kwh) AS energy_kwh, sumOrNull(cost) AS cost
FROM (SELECT * FROM {{.DB}}.utilization_costs(from = {from:DateTime64(3, 'UTC')}, to = {to:DateTime64(3, 'UTC')})) AS u
{{.Where}}
{{.GroupBy}}
ORDER BY capacity_hours DESC{{.Tie}}
{{.Limit}}
