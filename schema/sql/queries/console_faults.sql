-- Faults and clock events of a node's devices over the last day, the newest first.
SELECT s.ts, n.labels['device'], if(n.metric = 'accel_fault_events', 'fault', 'clock'), if(n.metric = 'accel_fault_events', n.labels['code'], n.labels['event']), s.value
FROM {{.DB}}.samples AS s FINAL
INNER JOIN
(
    SELECT id, any(name) AS metric, any(labels) AS labels FROM {{.DB}}.series
    WHERE name IN ('accel_fault_events', 'accel_clock_events') AND node = ? GROUP BY id
) AS n ON n.id = s.series
WHERE s.ts > now64(3) - INTERVAL 1 DAY AND NOT isNaN(s.value) AND s.value > 0
    AND s.series IN (SELECT id FROM {{.DB}}.series WHERE name IN ('accel_fault_events', 'accel_clock_events') AND node = ?)
ORDER BY s.ts DESC
LIMIT 200{{.JoinLocally}}
