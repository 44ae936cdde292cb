SELECT node, records, lost, dropped, pending, resent, age_seconds, transport_p99_seconds, storage_p99_seconds
FROM (SELECT * FROM {{.DB}}.line_health) AS u
{{.Where}}
ORDER BY lost DESC, age_seconds DESC, node
{{.Limit}}
