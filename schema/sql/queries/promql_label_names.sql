SELECT DISTINCT arrayJoin(mapKeys(labels)) AS label
FROM {{.Names.Table "series"}}
WHERE first_seen <= fromUnixTimestamp64Milli(toInt64(?), 'UTC')
ORDER BY label
LIMIT {{.Limit}}
