-- The newest event of each version of a feature view or service.
CREATE OR REPLACE VIEW {{.DB}}.feature_registry{{.OnCluster}} AS
SELECT
    kind,
    name,
    version,
    tupleElement(newest, 1) AS event,
    tupleElement(newest, 1) != 'retired' AS active,
    changed,
    tupleElement(newest, 2) AS changed_by,
    tupleElement(newest, 3) AS hash,
    tupleElement(newest, 4) AS definition
FROM
(
    SELECT kind, name, version, max(at) AS changed, argMax((event, who, hash, definition), (at, event)) AS newest
    FROM {{.DB}}.feature_history
    GROUP BY kind, name, version
)
COMMENT 'Feature views and services as they are in force, or retired'
