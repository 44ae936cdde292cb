SELECT topic, substring(reason, 1, 200) AS why, count(), max(ingest) AS last
FROM {{.DB}}.dead_letters FINAL
WHERE ingest > now64(3) - INTERVAL 1 DAY
GROUP BY topic, why
ORDER BY last DESC
LIMIT 50
