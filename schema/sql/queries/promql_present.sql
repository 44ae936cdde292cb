-- Which of some series have a sample within [from, to].
SELECT DISTINCT series
FROM {{.Names.Table "samples"}}
WHERE series IN ({{.IDs}})
  AND ts >= fromUnixTimestamp64Milli(toInt64(?), 'UTC') AND ts <= fromUnixTimestamp64Milli(toInt64(?), 'UTC')
  AND {{.Visible}}
