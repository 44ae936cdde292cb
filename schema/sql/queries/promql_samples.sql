-- The samples of some series within [from, to], by series and time.
SELECT series, toUnixTimestamp64Milli(ts), value
FROM {{.Names.Table "samples"}} FINAL
WHERE series IN ({{.IDs}})
  AND ts >= fromUnixTimestamp64Milli(toInt64(?), 'UTC') AND ts <= fromUnixTimestamp64Milli(toInt64(?), 'UTC')
  AND {{.Visible}}
ORDER BY series, ts
SETTINGS do_not_merge_across_partitions_select_final = 1
