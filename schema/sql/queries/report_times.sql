SELECT
    {{.Groups}}
    countIf(u.placed) AS placed, quantileExactOrNullIf(0.5)(queue_seconds, u.placed) AS queue_p50_seconds, quantileExactOrNullIf(0.95)(queue_seconds, u.placed) AS queue_p95_seconds,
    quantileExactOrNullIf(0.99)(queue_seconds, u.placed) AS queue_p99_seconds,
    countIf(u.ended) AS ended, countIf(u.ended AND state = 'failed') AS failed, sum(evictions) AS evictions,
    quantileExactOrNullIf(0.5)(run_seconds, u.ended AND state = 'finished') AS run_p50_seconds, quantileExactOrNullIf(0.95)(run_seconds, u.ended AND state = 'finished') AS run_p95_seconds,
    quantileExactOrNullIf(0.5)(total_seconds, u.ended AND state = 'finished') AS completion_p50_seconds,
    quantileExactOrNullIf(0.95)(total_seconds, u.ended AND state = 'finished') AS completion_p95_seconds
FROM (SELECT * FROM {{.DB}}.task_hours WHERE hour >= {from:DateTime64(3, 'UTC')} AND hour < {to:DateTime64(3, 'UTC')}) AS u
{{.Where}}
{{.GroupBy}}
ORDER BY ended DESC, placed DESC{{.Tie}}
{{.Limit}}
