-- Measures the features of one hour of a view: one scan of its tables, another of their keys, and
-- memory for the buckets that occur. A NaN, an infinity and an empty string are no value. Small
-- blocks: each row becomes as many as there are features.
INSERT INTO {{.DB}}.feature_profiles (view, feature, hour, rows, entities, ticks, nulls, outside, refused, newest, lowest, highest, total, text, buckets, counts, stored, made)
WITH
(
    SELECT (uniq(entity), uniqExact(tick))
    FROM
    (
        SELECT cityHash64({{.KeyColumns}}) AS entity, tick FROM {{.DB}}.{{ident .Table}} WHERE {{.InHour}}
        UNION ALL
        SELECT cityHash64({{.KeyColumns}}) AS entity, tick FROM {{.DB}}.{{ident .CorrectedTable}} WHERE {{.InHour}}
    )
) AS seen
SELECT
    {{quote .Ref}}, p.name, {hour:DateTime('UTC')}, p.rows, seen.1, seen.2, p.nulls, p.outside, f.refused, p.newest,
    if(p.text, 0, p.lowest), if(p.text, 0, p.highest), if(p.text, 0, p.total), p.text, p.sketch.1, p.sketch.2, {stored:UInt64}, now64(3)
FROM
(
    SELECT
        [{{.Names}}][i] AS name,
        [{{.Texts}}][i] AS text,
        sum(n) AS rows,
        sumIf(n, bucket = 32767) AS nulls,
        sumIf(n, out AND NOT text) AS outside,
        maxIf(g.newest, bucket != 32767) AS newest,
        minIf(g.lowest, bucket != 32767) AS lowest,
        maxIf(g.highest, bucket != 32767) AS highest,
        sumIf(g.total, bucket != 32767) AS total,
        sumMapIf([bucket], [n], bucket != 32767) AS sketch
    FROM
    (
        SELECT
            i,
            multiIf(
                NOT isFinite(x), 32767,
                is_text, toInt16(ifNotFinite(x, 0)),
                x = 0, 0,
                sign(x) * (16001 + greatest(least(ceil(log2(abs(ifNotFinite(x, 1))) * 32), 16000), -16000)))::Int16 AS bucket,
            isFinite(x) AND (x < low OR x > high) AS out,
            count() AS n,
            max(tick) AS newest,
            min(x) AS lowest,
            max(x) AS highest,
            sum(x) AS total
        FROM
        (
            SELECT tick, [{{.Values}}] AS xs
            FROM {{.DB}}.{{ident .CorrectedTable}} FINAL
            WHERE {{.InHour}}
            UNION ALL
            SELECT tick, [{{.Values}}] AS xs
            FROM {{.DB}}.{{ident .Table}} FINAL
            WHERE {{.InHour}} AND ({{.KeyColumns}}, tick) GLOBAL NOT IN (SELECT {{.KeyColumns}}, tick FROM {{.DB}}.{{ident .CorrectedTable}} WHERE {{.InHour}})
        )
        ARRAY JOIN xs AS x, [{{.Places}}]::Array(UInt16) AS i, [{{.Lows}}]::Array(Float64) AS low, [{{.Highs}}]::Array(Float64) AS high, [{{.Texts}}]::Array(UInt8) AS is_text
        GROUP BY i, bucket, out
    ) AS g
    GROUP BY i
) AS p
LEFT JOIN
(
    SELECT feature, sum(refused) AS refused FROM {{.DB}}.feature_faults FINAL WHERE view = {{quote .Ref}} AND {{.InHour}} GROUP BY feature
) AS f ON f.feature = p.name
SETTINGS do_not_merge_across_partitions_select_final = 1, max_block_size = 8192
