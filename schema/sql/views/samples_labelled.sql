-- Samples with the names that they go by. A row that is not usable tells that there is no
-- value, and flags tells why (docs/quality.md). To read fast, name the series too; their ids
-- are the order of the table:
--
--   SELECT ts, value FROM samples_labelled
--   WHERE series IN (SELECT id FROM series WHERE name = 'node_load1' AND node = 'n1')
--     AND ts > now() - INTERVAL 1 HOUR
CREATE OR REPLACE VIEW {{.DB}}.samples_labelled{{.OnCluster}} AS
SELECT
    s.series AS series, s.ts AS ts, n.node AS node, n.name AS name, n.labels AS labels,
    s.value AS value, n.unit AS unit, n.kind AS kind, s.flags AS flags,
    reinterpretAsUInt64(s.value) = 0x7ff0000000000002 AS stale,
    bitAnd(s.flags, {{.Unusable}}) = 0 AND NOT isNaN(s.value) AS usable
FROM {{.DB}}.samples AS s FINAL
INNER JOIN {{.DB}}.series AS n FINAL ON n.id = s.series{{.JoinLocally}}
