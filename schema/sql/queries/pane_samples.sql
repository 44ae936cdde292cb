-- The samples of some series in [from, to), unix ms, that came in time, by series and time.
SELECT series, toUnixTimestamp64Milli(ts), value
FROM {{.DB}}.samples FINAL
WHERE series GLOBAL IN ({{.Series}})
  AND ts >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND ts < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
  AND bitAnd(flags, {{.Without}}) = 0
ORDER BY series, ts
SETTINGS do_not_merge_across_partitions_select_final = 1
