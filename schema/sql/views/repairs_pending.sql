-- Hours of nodes whose late samples are in no corrected row yet.
CREATE OR REPLACE VIEW {{.DB}}.repairs_pending{{.OnCluster}} AS
SELECT l.node AS node, l.hour AS hour, l.late AS late, r.late AS repaired, r.status AS status, r.at AS tried
FROM (SELECT node, hour, sum(late) AS late FROM {{.DB}}.late_records FINAL GROUP BY node, hour) AS l
LEFT JOIN (SELECT * FROM {{.DB}}.repairs FINAL) AS r ON r.node = l.node AND r.hour = l.hour
WHERE l.late != r.late OR r.status = 'failed'
