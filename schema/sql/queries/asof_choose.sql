-- For each ask, the highest row that becomes visible after the entity's ask before it and
-- not after its own time. The asks are few and the rows are many: rows pass by, and the
-- asks, which come with the query as the table asks, are what memory holds.
SELECT id, best.1, best.2, best.3
FROM
(
    SELECT a.id AS id, max((f.t, f.o, f.k)) AS best
    FROM
    (
        {{- range $s, $source := .Sources}}
        {{- if $s}}
        UNION ALL{{end}}
        SELECT
            {{- range $i, $k := $.Keys}}
            toString({{ident $k}}) AS k{{$i}},
            {{- end}}
            toUnixTimestamp64Milli(tick) AS t,
            toUnixTimestamp64Milli(known) AS k,
            toInt64({{$source.Order}}) AS o,
            {{if $.AsCorrected}}t{{else}}greatest(t, k){{end}} AS visible
        FROM {{$.DB}}.{{ident $source.Table}} FINAL
        WHERE tick >= fromUnixTimestamp64Milli(toInt64({{$.From}}), 'UTC') AND tick <= fromUnixTimestamp64Milli(toInt64({{$.To}}), 'UTC')
            AND ({{range $i, $k := $.Keys}}{{if $i}}, {{end}}{{ident $k}}{{end}}) IN (SELECT {{range $i, $k := $.Keys}}{{if $i}}, {{end}}k{{$i}}{{end}} FROM asks)
        {{- end}}
    ) AS f
    ASOF INNER JOIN asks AS a ON {{range $i, $k := .Keys}}f.k{{$i}} = a.k{{$i}} AND {{end}}f.visible <= a.at
    GROUP BY a.id
)
SETTINGS do_not_merge_across_partitions_select_final = 1
