-- FINAL leaves of two samples of one time the one that was in time: the one in the windows.
SELECT series, toUnixTimestamp64Milli(ts), value, flags
FROM {{.DB}}.samples FINAL
WHERE series GLOBAL IN (SELECT id FROM {{.DB}}.series WHERE node IN (@nodes) AND (@all OR name IN (@names)))
  AND ts >= fromUnixTimestamp64Milli(toInt64(@from), 'UTC') AND ts < fromUnixTimestamp64Milli(toInt64(@to), 'UTC')
  AND bitAnd(flags, @without) = 0
ORDER BY series, ts
SETTINGS do_not_merge_across_partitions_select_final = 1
