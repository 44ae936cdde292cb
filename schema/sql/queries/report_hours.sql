SELECT
    u.hour AS hour, sum(capacity_hours) AS capacity_hours, sum(unknown_hours) AS unknown_hours, sum(allocated_hours) AS allocated_hours, sum(used_hours) AS used_hours,
    sum(idle_allocated_hours) AS idle_allocated_hours
FROM (SELECT * FROM {{.DB}}.utilization(from = {from:DateTime64(3, 'UTC')}, to = {to:DateTime64(3, 'UTC')})) AS u
{{.Where}}
GROUP BY hour
ORDER BY hour
