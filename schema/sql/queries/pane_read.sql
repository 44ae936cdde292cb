-- Panes of a stretch of time, in its order: those that are stored, or one of samples. Where the panes
-- of a series are not needed one by one, one has what adds up; in the order of time, so that the
-- same panes give the same bits.
{{- if not .Stored}}
SELECT series, toUInt64(n), toUnixTimestamp64Milli(first_ts), toUnixTimestamp64Milli(last_ts), first, last, min, max, sum, spread, mean_t, spread_t, span_tv, changes, resets, fallen
FROM
(
{{.Rows}}
)
{{- else}}
{{- if .Whole}}
SELECT series, toUInt64(n), toUnixTimestamp64Milli(first_ts), toUnixTimestamp64Milli(last_ts), first, last, min, max, sum, spread, mean_t, spread_t, span_tv, changes, resets, fallen
{{- else}}
SELECT
    series, sum(n), toUnixTimestamp64Milli(min(first_ts)), toUnixTimestamp64Milli(max(last_ts)), argMin(first, pane), argMax(last, pane),
    if(countIf(NOT isNaN(min)) = 0, nan, minIf(min, NOT isNaN(min))), if(countIf(NOT isNaN(max)) = 0, nan, maxIf(max, NOT isNaN(max))),
    {{if .Sums}}if(isFinite(arrayReduce('sumKahan', arrayMap(x -> x.2, arraySort(groupArray((pane, sum)))) AS sums) AS s), s, arraySum(sums)){{else}}0.{{end}}, 0., 0., 0., 0., 0::UInt32, 0::UInt32, 0.
{{- end}}
FROM {{.DB}}.sample_panes FINAL
WHERE length = {length:Int64} / 1000 AND pane >= toDateTime({from:Int64} / 1000, 'UTC') AND pane < toDateTime({to:Int64} / 1000, 'UTC')
  AND series GLOBAL IN ({{.Series}})
{{- if .Whole}}
ORDER BY pane
{{- else}}
GROUP BY series
{{- end}}
SETTINGS do_not_merge_across_partitions_select_final = 1
{{- end}}
