-- What changed on which node, and when: one row per fact that another row of the node's
-- history had otherwise. An agent that only started again changed nothing.
CREATE OR REPLACE VIEW {{.DB}}.inventory_changes{{.OnCluster}} AS
SELECT node, time, fact, old[fact] AS before, facts[fact] AS after
FROM
(
    SELECT
        node, since AS time, facts,
        lagInFrame(facts) OVER w AS old,
        row_number() OVER w AS place
    FROM {{.DB}}.inventories FINAL
    WHERE removed = 0
    WINDOW w AS (PARTITION BY node ORDER BY since ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
)
ARRAY JOIN arrayFilter(k -> facts[k] != old[k], arrayDistinct(arrayConcat(mapKeys(facts), mapKeys(old)))) AS fact
WHERE place > 1
ORDER BY node, time, fact
