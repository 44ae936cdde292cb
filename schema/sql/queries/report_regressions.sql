SELECT figure, unit, dimension, value, before, after, change_ratio
FROM (SELECT * FROM {{.DB}}.regressions(to = {to:DateTime64(3, 'UTC')})) AS u
{{.Where}}
ORDER BY change_ratio DESC, figure, value
{{.Limit}}
