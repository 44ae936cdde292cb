-- Rows of a feature view with a tick in [from, to], by key and tick.
SELECT
{{- range .Keys}}
    toString({{ident .}}),
{{- end}}
    toUnixTimestamp64Milli(tick)
{{- range .Columns}},
    {{.Read}}
{{- end}}
FROM {{.DB}}.{{ident .Table}} FINAL
WHERE tick >= fromUnixTimestamp64Milli(toInt64(?), 'UTC') AND tick <= fromUnixTimestamp64Milli(toInt64(?), 'UTC'){{.Where}}
ORDER BY {{range .Keys}}{{ident .}}, {{end}}tick
SETTINGS do_not_merge_across_partitions_select_final = 1
