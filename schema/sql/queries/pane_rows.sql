-- Panes of samples in [from, to), unix ms, that fill it in a row from its start on. The times of
-- a series are distinct, so that sorting by time sorts the samples.
SELECT
    toUInt32({length:Int64} / 1000) AS length, toDateTime(intDiv(start, 1000), 'UTC') AS pane, series, toUInt32(length(v)) AS n, t[1] AS first_ts, t[-1] AS last_ts, v[1] AS first, v[-1] AS last,
    if(empty(numbers), nan, arrayMin(numbers)) AS min, if(empty(numbers), nan, arrayMax(numbers)) AS max,
    if(isFinite(arrayReduce('sumKahan', v) AS s), s, arrayReduce('sum', v)) AS sum,
    arrayReduce('varPopStable', v) * n AS spread, arrayReduce('avg', seconds) * 1000 AS mean_t,
    arrayReduce('varPopStable', seconds) * n AS spread_t, arrayReduce('covarPopStable', seconds, v) * n AS span_tv,
    toUInt32(arrayCount((a, b) -> a != b AND NOT (isNaN(a) AND isNaN(b)), before, after)) AS changes,
    toUInt32(arrayCount((a, b) -> b < a, before, after)) AS resets,
    arraySum((a, b) -> if(b < a, a, 0), before, after) AS fallen
FROM
(
    SELECT
        series, start, arraySort(groupArray((ts, value))) AS points, points.1 AS t, points.2 AS v,
        arrayFilter(x -> NOT isNaN(x), v) AS numbers, arrayMap(x -> (toUnixTimestamp64Milli(x) - toUnixTimestamp64Milli(t[1])) / 1000, t) AS seconds,
        arrayPopBack(v) AS before, arrayPopFront(v) AS after
    FROM
    (
        SELECT series, ts, value, {from:Int64} + intDiv(toUnixTimestamp64Milli(ts) - {from:Int64}, {length:Int64}) * {length:Int64} AS start
        FROM {{.DB}}.samples FINAL
        WHERE series GLOBAL IN ({{.Series}})
          AND ts >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND ts < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
          AND bitAnd(flags, {{.Without}}) = 0 AND reinterpretAsUInt64(value) != 0x7ff0000000000002
    )
    GROUP BY series, start
)
