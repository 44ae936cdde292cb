-- How many promises of each kind were kept between two times, against the share that is to be
-- kept (slo_targets, 99 % without one): error_budgets(from = …, to = …). The budget is how many
-- may be broken; budget_left_ratio is what is left of it, below 0 when it is overdrawn. A burn
-- rate of 1 uses up the budget just when the time is over; burn_1h and burn_6h are of the last
-- hours before its end.
CREATE OR REPLACE VIEW {{.DB}}.error_budgets{{.OnCluster}} AS
SELECT
    n.cluster AS cluster, n.tenant AS tenant, n.queue AS queue, n.simulated AS simulated, n.promise AS promise,
    n.kept + n.broken AS decided, n.broken AS broken, ifNull(t.target, 0.99) AS target_ratio,
    n.kept / nullIf(n.kept + n.broken, 0) AS kept_ratio,
    decided * (1 - target_ratio) AS budget,
    1 - n.broken / nullIf(budget, 0) AS budget_left_ratio,
    n.broken / nullIf(decided, 0) / (1 - target_ratio) AS burn_rate,
    n.broken_1h / nullIf(n.decided_1h, 0) / (1 - target_ratio) AS burn_1h,
    n.broken_6h / nullIf(n.decided_6h, 0) / (1 - target_ratio) AS burn_6h
FROM
(
    SELECT
        if(cluster = '', 'default', cluster) AS cluster, tenant, queue, simulated, p.1 AS promise,
        sum(p.2) AS kept, sum(p.3) AS broken,
        sumIf(p.3, hour >= {to:DateTime64(3, 'UTC')} - INTERVAL 1 HOUR) AS broken_1h, sumIf(p.2 + p.3, hour >= {to:DateTime64(3, 'UTC')} - INTERVAL 1 HOUR) AS decided_1h,
        sumIf(p.3, hour >= {to:DateTime64(3, 'UTC')} - INTERVAL 6 HOUR) AS broken_6h, sumIf(p.2 + p.3, hour >= {to:DateTime64(3, 'UTC')} - INTERVAL 6 HOUR) AS decided_6h
    FROM {{.DB}}.rolled_tasks
    ARRAY JOIN [('queue_time', queue_kept, queue_broken), ('deadline', deadline_kept, deadline_broken), ('latency', latency_kept, latency_broken)] AS p
    WHERE hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')} AND counted AND p.2 + p.3 > 0 AND {{.InForce}}
    GROUP BY cluster, tenant, queue, simulated, promise
) AS n
LEFT JOIN
(
    SELECT k.tenant AS tenant, k.queue AS queue, argMax(r.target, (r.tenant != '', r.queue != '', r.valid_from)) AS target
    FROM
    (
        SELECT DISTINCT tenant, queue FROM {{.DB}}.rolled_tasks
        WHERE hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')} AND {{.InForce}}
    ) AS k
    CROSS JOIN (SELECT * FROM {{.DB}}.slo_targets FINAL) AS r
    WHERE r.valid_from < {to:DateTime64(3, 'UTC')} AND (r.tenant = '' OR r.tenant = k.tenant) AND (r.queue = '' OR r.queue = k.queue)
    GROUP BY tenant, queue
) AS t ON t.tenant = n.tenant AND t.queue = n.queue
SETTINGS join_use_nulls = 1
