-- The values of rows that were chosen, which come with the query as the table picks. Keys
-- and ticks are read first; the columns of values, only where these agree.
{{- range $s, $source := .Sources}}
{{- if $s}}
UNION ALL{{end}}
SELECT
    p.id,
    f.flags
    {{- range $i, $c := $.Columns}},
    f.v{{$i}}
    {{- end}}
FROM
(
    SELECT
        {{- range $i, $k := $.Keys}}
        toString({{ident $k}}) AS k{{$i}},
        {{- end}}
        toUnixTimestamp64Milli(tick) AS t,
        toUnixTimestamp64Milli(known) AS k,
        flags
        {{- range $i, $c := $.Columns}},
        {{$c.Read}} AS v{{$i}}
        {{- end}}
    FROM {{$.DB}}.{{ident $source.Table}} FINAL
    PREWHERE ({{range $.Keys}}{{ident .}}, {{end}}tick) IN
        (SELECT {{range $i, $k := $.Keys}}k{{$i}}, {{end}}fromUnixTimestamp64Milli(t, 'UTC') FROM picks WHERE o = {{$source.Order}})
) AS f
INNER JOIN picks AS p ON {{range $i, $k := $.Keys}}f.k{{$i}} = p.k{{$i}} AND {{end}}f.t = p.t AND f.k = p.k AND p.o = {{$source.Order}}
{{- end}}
SETTINGS do_not_merge_across_partitions_select_final = 1
