-- What was wrong over the last day, and is: per node, and per metric (of a device) or
-- target, the time of the first and the last scrape at which a flag was in force, the
-- number of such scrapes, and whether it still is. docs/quality.md says what each means.
CREATE OR REPLACE VIEW {{.DB}}.quality{{.OnCluster}} AS
SELECT
    n.node AS node,
    n.labels['uid'] AS uid,
    n.labels['metric'] AS metric,
    n.labels['target'] AS target,
    n.labels['flag'] AS flag,
    minIf(s.ts, NOT isNaN(s.value)) AS first,
    maxIf(s.ts, NOT isNaN(s.value)) AS last,
    countIf(NOT isNaN(s.value)) AS scrapes,
    NOT isNaN(argMax(s.value, s.ts)) AND max(s.ts) > now64(3) - INTERVAL 1 MINUTE AS in_force
FROM {{.DB}}.samples AS s FINAL
INNER JOIN {{.DB}}.series AS n FINAL ON n.id = s.series
WHERE s.ts > now64(3) - INTERVAL 1 DAY
    AND s.series IN (SELECT id FROM {{.DB}}.series WHERE name = 'sample_flag')
GROUP BY node, uid, metric, target, flag
HAVING scrapes > 0
ORDER BY node, uid, metric, target, flag{{.JoinLocally}}
