-- Per node and hour: the samples that the ledger says were stored against the samples
-- that a reader finds. The ledger is written last, so a row that it claims must be there.
--
-- expected   samples of the records in the ledger; a record that was sent twice counts once
-- visible    samples as a reader sees them, without those that the pipeline made of its own:
--            the series sample_flag
-- lost       expected and not visible: must be 0
-- duplicate  visible beyond what the ledger accounts for: must be 0. For the second
--            between the insert of samples and the insert of their ledger rows they stand
--            here.
--
-- A record belongs to the hour of its scrape, a sample to the hour of its event time. They
-- are the same unless an exporter brings its own timestamps; its samples then move between
-- two neighbouring hours when they were taken across the border. An hour of which samples
-- or ledger rows may have expired has no row.
CREATE OR REPLACE VIEW {{.DB}}.ingest_audit{{.OnCluster}} AS
WITH
    said AS
    (
        SELECT node, toStartOfHour(scrape) AS hour, count() AS records, sum(rows) AS expected
        FROM
        (
            SELECT agent, seq, any(node) AS node, any(scrape) AS scrape, max(rows) AS rows
            FROM {{.DB}}.ingest_ledger AS l FINAL
            WHERE l.scrape >= {{.AuditSince}}
            GROUP BY agent, seq
        )
        GROUP BY node, hour
    ),
    found AS
    (
        SELECT n.node AS node, s.hour AS hour, sum(s.visible) AS visible
        FROM
        (
            SELECT series, toStartOfHour(ts) AS hour, count() AS visible
            FROM {{.DB}}.samples FINAL
            WHERE ts >= {{.AuditSince}} AND series NOT IN (SELECT id FROM {{.DB}}.series WHERE name = 'sample_flag')
            GROUP BY series, hour
        ) AS s
        LEFT JOIN (SELECT id, anyLast(node) AS node FROM {{.DB}}.series GROUP BY id) AS n ON n.id = s.series
        GROUP BY node, hour
    )
SELECT
    if(said.records > 0, said.node, found.node) AS node,
    if(said.records > 0, said.hour, found.hour) AS time,
    said.records AS records,
    said.expected AS expected,
    found.visible AS visible,
    if(expected > visible, expected - visible, 0) AS lost,
    if(visible > expected, visible - expected, 0) AS duplicate
FROM said
FULL OUTER JOIN found ON said.node = found.node AND said.hour = found.hour
ORDER BY node, time
