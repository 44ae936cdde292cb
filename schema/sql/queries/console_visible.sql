-- Samples that a reader finds, by node, without those that the pipeline made of its own; and
-- when the question began, unix ms: what the ledger had by then must be among them.
SELECT n.node AS node, sum(s.visible), toUnixTimestamp64Milli(now64(3))
FROM
(
    SELECT series, count() AS visible
    FROM {{.DB}}.samples FINAL
    WHERE ts >= {{.AuditSince}} AND series NOT IN (SELECT id FROM {{.DB}}.series WHERE name = 'sample_flag')
    GROUP BY series
) AS s
LEFT JOIN (SELECT id, anyLast(node) AS node FROM {{.DB}}.series GROUP BY id) AS n ON n.id = s.series
GROUP BY node
