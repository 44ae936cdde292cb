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
WHERE tick > fromUnixTimestamp64Milli(toInt64(?), 'UTC')
ORDER BY {{range .Keys}}{{ident .}}, {{end}}tick DESC
LIMIT 1 BY {{range $i, $k := .Keys}}{{if $i}}, {{end}}{{ident $k}}{{end}}
SETTINGS do_not_merge_across_partitions_select_final = 1
