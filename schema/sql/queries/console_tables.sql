SELECT table, sum(rows), sum(bytes_on_disk) AS bytes
FROM system.parts
WHERE active AND database = {{quote .Database}}
GROUP BY table
ORDER BY bytes DESC
LIMIT 100
