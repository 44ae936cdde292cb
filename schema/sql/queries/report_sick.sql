SELECT
    node, device, any(u.model) AS model, sum(faults) AS faults, sum(errors_uncorrected) AS errors_uncorrected, sum(errors_corrected) AS errors_corrected,
    sum(unhealthy_hours) AS unhealthy_hours, sum(throttled_hours) AS throttled_hours, max(u.temperature_max_celsius) AS temperature_max_celsius,
    minIf(u.hour, u.faults + u.errors_uncorrected > 0 OR u.unhealthy_hours > 0) AS first_hour, maxIf(u.hour, u.faults + u.errors_uncorrected > 0 OR u.unhealthy_hours > 0) AS last_hour
FROM (SELECT * FROM {{.DB}}.device_hours WHERE hour >= {from:DateTime64(3, 'UTC')} AND hour < {to:DateTime64(3, 'UTC')}) AS u
{{.Where}}
GROUP BY node, device
HAVING faults + errors_uncorrected > 0 OR unhealthy_hours > 0
ORDER BY errors_uncorrected DESC, faults DESC, unhealthy_hours DESC, node, device
{{.Limit}}
