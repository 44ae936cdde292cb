SELECT
    node, any(u.model) AS model, uniqExact(device) AS devices, sum(capacity_hours) AS capacity_hours, sum(allocated_hours) AS allocated_hours, sum(stranded_hours) AS stranded_hours,
    stranded_hours / nullIf(capacity_hours, 0) AS stranded_ratio
FROM (SELECT * FROM {{.DB}}.device_hours WHERE hour >= {from:DateTime64(3, 'UTC')} AND hour < {to:DateTime64(3, 'UTC')}) AS u
{{.Where}}
GROUP BY node
HAVING stranded_hours > 0
ORDER BY stranded_hours DESC, node
{{.Limit}}
