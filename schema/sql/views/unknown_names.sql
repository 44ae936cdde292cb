-- Metrics of known vendors that the catalogue does not list. They are stored as they are
-- exposed, without a unit; a row in schema/catalog gives them a meaning.
CREATE OR REPLACE VIEW {{.DB}}.unknown_names{{.OnCluster}} AS
SELECT
    unknown_of AS vendor,
    name,
    uniqExact(node) AS nodes,
    count() AS series,
    min(first_seen) AS first_seen
FROM {{.DB}}.series FINAL
WHERE unknown_of != ''
GROUP BY vendor, name
ORDER BY vendor, name
