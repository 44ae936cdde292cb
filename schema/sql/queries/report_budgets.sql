SELECT cluster, tenant, queue, promise, decided, broken, target_ratio, kept_ratio, budget, budget_left_ratio, burn_rate, burn_1h, burn_6h
FROM (SELECT * FROM {{.DB}}.error_budgets(from = {from:DateTime64(3, 'UTC')}, to = {to:DateTime64(3, 'UTC')})) AS u
{{.Where}}
ORDER BY budget_left_ratio NULLS LAST, broken DESC, tenant, queue, promise
{{.Limit}}
