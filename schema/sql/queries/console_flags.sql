-- What was wrong with values of one node over the last day, as the view quality has it.
SELECT
    n.labels['flag'] AS flag, n.labels['uid'] AS uid, n.labels['metric'] AS metric, n.labels['target'] AS target,
    minIf(s.ts, NOT isNaN(s.value)), maxIf(s.ts, NOT isNaN(s.value)) AS last, countIf(NOT isNaN(s.value)) AS scrapes,
    NOT isNaN(argMax(s.value, s.ts)) AND max(s.ts) > now64(3) - INTERVAL 1 MINUTE AS in_force
FROM {{.DB}}.samples AS s FINAL
INNER JOIN (SELECT id, any(labels) AS labels FROM {{.DB}}.series WHERE name = 'sample_flag' AND node = ? GROUP BY id) AS n ON n.id = s.series
WHERE s.ts > now64(3) - INTERVAL 1 DAY AND s.series IN (SELECT id FROM {{.DB}}.series WHERE name = 'sample_flag' AND node = ?)
GROUP BY flag, uid, metric, target
HAVING scrapes > 0
ORDER BY in_force DESC, last DESC
LIMIT 500{{.JoinLocally}}
