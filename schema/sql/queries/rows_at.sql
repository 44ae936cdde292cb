-- Of each entity the row with the highest tick of those that were known by a time. Keys and
-- times are read first; the columns of values, of the chosen rows alone.
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
PREWHERE ({{range .Keys}}{{ident .}}, {{end}}tick) IN
(
    SELECT {{range .Keys}}{{ident .}}, {{end}}max(tick)
    FROM {{.DB}}.{{ident .Table}} FINAL
    WHERE tick >= fromUnixTimestamp64Milli(toInt64(?), 'UTC') AND tick <= fromUnixTimestamp64Milli(toInt64(?), 'UTC')
        AND known <= fromUnixTimestamp64Milli(toInt64(?), 'UTC')
    GROUP BY {{range $i, $k := .Keys}}{{if $i}}, {{end}}{{ident $k}}{{end}}
)
WHERE tick >= fromUnixTimestamp64Milli(toInt64(?), 'UTC') AND known <= fromUnixTimestamp64Milli(toInt64(?), 'UTC')
ORDER BY {{range $i, $k := .Keys}}{{if $i}}, {{end}}{{ident $k}}{{end}}
SETTINGS do_not_merge_across_partitions_select_final = 1{{if .OnCluster}}, distributed_product_mode = 'local'{{end}}
