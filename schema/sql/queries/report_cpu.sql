SELECT
    {{.Groups}}
    sum(core_hours) AS core_hours, sum(observed_core_hours) AS observed_core_hours, sum(used_core_hours) AS used_core_hours, sum(allocated_core_hours) AS allocated_core_hours,
    used_core_hours / nullIf(observed_core_hours, 0) AS used_ratio, allocated_core_hours / nullIf(core_hours, 0) AS allocated_ratio,
    sum(used_gib_hours) / nullIf(sum(observed_gib_hours), 0) AS memory_used_ratio, sum(allocated_gib_hours) / nullIf(sum(gib_hours), 0) AS memory_allocated_ratio
FROM (SELECT * FROM {{.DB}}.node_hours WHERE hour >= {from:DateTime64(3, 'UTC')} AND hour < {to:DateTime64(3, 'UTC')}) AS u
{{.Where}}
{{.GroupBy}}
ORDER BY core_hours DESC{{.Tie}}
{{.Limit}}
