-- What the values of each feature were, hour by hour: docs/feature-quality.md. Quantiles are
-- those of the histogram, within 1.1 % of the value of that rank.
CREATE OR REPLACE VIEW {{.DB}}.feature_quality{{.OnCluster}} AS
SELECT
    view,
    feature,
    hour,
    rows,
    entities,
    ticks,
    nulls,
    if(rows = 0, 0, nulls / rows) AS null_ratio,
    outside + refused AS out_of_range,
    if(out_of_range = 0, 0, out_of_range / (rows - nulls + refused)) AS out_of_range_ratio,
    if(nulls = rows, NULL, newest) AS newest_value,
    if(nulls = rows, NULL, dateDiff('millisecond', newest, toDateTime64(hour, 3, 'UTC') + INTERVAL 1 HOUR) / 1000) AS freshness_seconds,
    if(text OR nulls = rows, NULL, lowest) AS min,
    if(text OR nulls = rows, NULL, highest) AS max,
    if(text OR nulls = rows, NULL, total / (rows - nulls)) AS mean,
    {{.Quantile "0.05"}} AS p05,
    {{.Quantile "0.5"}} AS p50,
    {{.Quantile "0.95"}} AS p95,
    {{.Quantile "0.99"}} AS p99,
    made
FROM {{.DB}}.feature_profiles FINAL
COMMENT 'Null rate, freshness, range violations and distribution of each feature by hour'
