-- How far the values of each hour are from those of a baseline: the population stability index
-- over the baseline's bins, sum((q - p) * ln(q / p)), with p and q the shares of each bin in the
-- baseline and the hour, half a row added to each bin. docs/feature-quality.md.
CREATE OR REPLACE VIEW {{.DB}}.feature_drift{{.OnCluster}} AS
SELECT
    baseline,
    view,
    feature,
    hour,
    rows,
    expected,
    arrayPushBack(
        arrayMap((low, high) -> arraySum((x, n) -> if(x > low AND x <= high, n, 0), buckets, counts), arrayPushFront(edges, toInt16(-32768)), arrayPushBack(edges, toInt16(32766))),
        nulls) AS actual,
    arraySum(
        (p, q) -> (q - p) * log(q / p),
        arrayMap(n -> (n + 0.5) / (arraySum(expected) + 0.5 * length(expected)), expected),
        arrayMap(n -> (n + 0.5) / (arraySum(actual) + 0.5 * length(actual)), actual)) AS psi
FROM
(
    SELECT b.baseline AS baseline, p.view AS view, p.feature AS feature, p.hour AS hour, p.rows AS rows, p.nulls AS nulls,
        p.buckets AS buckets, p.counts AS counts, b.edges AS edges, b.expected AS expected
    FROM {{.DB}}.feature_profiles AS p FINAL
    INNER JOIN (SELECT * FROM {{.DB}}.feature_baselines FINAL WHERE removed = 0) AS b ON b.view = p.view AND b.feature = p.feature
)
COMMENT 'Population stability index of each feature and hour against each baseline'
