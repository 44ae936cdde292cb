SELECT
    {{.Groups}}
    sum(allocated_hours) AS allocated_hours, sum(used_hours) AS used_hours, sum(idle_allocated_hours) AS idle_allocated_hours,
    idle_allocated_hours / nullIf(sumIf(u.observed_hours, task != ''), 0) AS idle_ratio, sum(free_hours) AS free_hours, sum(stranded_hours) AS stranded_hours,
    sumOrNull(idle_cost) AS idle_cost, sumOrNull(cost) AS cost
FROM (SELECT * FROM {{.DB}}.utilization_costs(from = {from:DateTime64(3, 'UTC')}, to = {to:DateTime64(3, 'UTC')})) AS u
{{.Where}}
{{.GroupBy}}
ORDER BY idle_allocated_hours DESC, free_hours DESC{{.Tie}}
{{.Limit}}
