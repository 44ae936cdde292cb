SELECT
    {{.Groups}}
    uniqExact(node, device) AS devices, sum(faults) AS faults, sum(errors_uncorrected) AS errors_uncorrected, sum(errors_corrected) AS errors_corrected,
    sum(unhealthy_hours) AS unhealthy_hours, sum(unknown_hours) AS unknown_hours, sum(throttled_hours) / nullIf(sum(observed_hours), 0) AS throttled_ratio,
    max(u.temperature_max_celsius) AS temperature_max_celsius, max(u.power_max_watts) AS power_max_watts
FROM (SELECT * FROM {{.DB}}.device_hours WHERE hour >= {from:DateTime64(3, 'UTC')} AND hour < {to:DateTime64(3, 'UTC')}) AS u
{{.Where}}
{{.GroupBy}}
ORDER BY faults DESC, errors_uncorrected DESC, devices DESC{{.Tie}}
{{.Limit}}
