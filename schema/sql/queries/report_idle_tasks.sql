SELECT
    tenant, queue, type, task, any(u.node) AS node, any(u.model) AS model, sum(allocated_hours) AS allocated_hours, sum(idle_allocated_hours) AS idle_allocated_hours,
    idle_allocated_hours / nullIf(sum(u.observed_hours), 0) AS idle_ratio, sum(used_hours) / nullIf(sum(observed_hours), 0) AS used_ratio, sumOrNull(idle_cost) AS idle_cost
FROM (SELECT * FROM {{.DB}}.utilization_costs(from = {from:DateTime64(3, 'UTC')}, to = {to:DateTime64(3, 'UTC')}) WHERE task != '') AS u
{{.Where}}
GROUP BY cluster, tenant, queue, type, task
HAVING idle_allocated_hours > 0
ORDER BY idle_allocated_hours DESC, task
{{.Limit}}
