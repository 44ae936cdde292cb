SELECT id, node, name, mapKeys(labels), mapValues(labels)
FROM {{.DB}}.series FINAL
WHERE node IN (@nodes) AND (@all OR name IN (@names))
ORDER BY id
