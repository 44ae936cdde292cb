-- How far the values of each hour are from those of a baseline: the population stability index
-- over the baseline's bins, sum((q - p) * ln(q / p)), with p and q the shares of each bin in the
-- baseline and the hour, and half a row of the one with fewer rows added to both, as a share: so
-- what is spread alike is 0, however many rows there are. docs/feature-quality.md.
CREATE OR REPLACE VIEW {{.DB}}.feature_drift{{.OnCluster}} AS
WITH 0.5 / least(arraySum(expected), arraySum(actual)) AS half
SELECT
    baseline,
    view,
    feature,
    hour,
    rows,
    expected,
    arrayPushBack(
        if(exact,
            arrayPushBack(arrayMap(e -> arraySum((x, n) -> if(x = e, n, 0), buckets, counts), edges), arraySum((x, n) -> if(has(edges, x), 0, n), buckets, counts)),
            arrayMap((low, high) -> arraySum((x, n) -> if(x > low AND x <= high, n, 0), buckets, counts), arrayPushFront(edges, toInt16(-32768)), arrayPushBack(edges, toInt16(32766)))),
        nulls) AS actual,
    arraySum(
        (p, q) -> (q - p) * log(q / p),
        arrayMap(n -> (n / arraySum(expected) + half) / (1 + half * length(expected)), expected),
        arrayMap(n -> (n / arraySum(actual) + half) / (1 + half * length(actual)), actual)) AS psi
FROM
(
    SELECT b.baseline AS baseline, p.view AS view, p.feature AS feature, p.hour AS hour, p.rows AS rows, p.nulls AS nulls,
        p.buckets AS buckets, p.counts AS counts, b.edges AS edges, b.expected AS expected, b.exact AS exact
    FROM {{.DB}}.feature_profiles AS p FINAL
    INNER JOIN (SELECT * FROM {{.DB}}.feature_baselines FINAL WHERE removed = 0) AS b ON b.view = p.view AND b.feature = p.feature
)
COMMENT 'Population stability index of each feature and hour against each baseline'
