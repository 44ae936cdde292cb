SELECT
{{- range .Keys}}
    toString({{ident .}}),
{{- end}}
    toUnixTimestamp64Milli(tick),
    toUnixTimestamp64Milli(known),
    flags
{{- range .Columns}},
    {{.Read}}
{{- end}}
FROM {{.DB}}.{{ident .Table}} FINAL
WHERE node IN (@nodes)
  AND tick >= fromUnixTimestamp64Milli(toInt64(@from), 'UTC') AND tick < fromUnixTimestamp64Milli(toInt64(@to), 'UTC')
ORDER BY {{range .Keys}}{{ident .}}, {{end}}tick
SETTINGS do_not_merge_across_partitions_select_final = 1
