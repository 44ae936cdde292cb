-- The nodes as the console's map shows them. The group is the label node_group, or the
-- name without the number at its end. Vendor and model are those of most accelerators.
SELECT
    n.node, n.simulated = 1, n.cordoned = 1, n.region, n.zone, n.rack, n.switch,
    coalesce(nullIf(n.labels['node_group'], ''), nullIf(n.kubernetes_labels['node_group'], ''), replaceRegexpOne(n.node, '[-_.]?[0-9]+$', '')),
    d.most.1, d.most.2, n.accelerators, n.threads, n.memory_bytes
FROM {{.DB}}.nodes AS n
LEFT JOIN
(
    SELECT node, argMax((vendor, model), (devices, vendor, model)) AS most
    FROM (SELECT node, toString(vendor) AS vendor, toString(model) AS model, count() AS devices FROM {{.DB}}.devices GROUP BY node, vendor, model)
    GROUP BY node
) AS d ON d.node = n.node
WHERE ? = '' OR n.node = ?
ORDER BY n.node
LIMIT ?
