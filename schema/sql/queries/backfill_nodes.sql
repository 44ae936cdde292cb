-- The high bits of a series id are its node's: nodes in this order are neighbours in samples.
SELECT node
FROM (SELECT node, min(id) AS first FROM {{.DB}}.series GROUP BY node)
ORDER BY first
