SELECT DISTINCT {{.Label}} AS value
FROM {{.Names.Table "series"}}
WHERE first_seen <= fromUnixTimestamp64Milli(toInt64(?), 'UTC') AND value != ''
ORDER BY value
LIMIT {{.Limit}}
