-- What became worse within a week: regressions(to = …) has each figure over the 7 days before
-- and over the 7 days before those. change_ratio is the change over the earlier figure, positive
-- where it is worse. Figures of fewer than 5 tasks, or less than an hour of devices, are left out.
CREATE OR REPLACE VIEW {{.DB}}.regressions{{.OnCluster}} AS
WITH
    toStartOfHour({to:DateTime64(3, 'UTC')}) AS ending,
    devices AS
    (
        SELECT cluster, vendor, model, node, simulated, hour >= ending - INTERVAL 7 DAY AS recent, observed_seconds AS observed, busy_seconds AS busy, allocated_seconds AS held,
            idle_allocated_seconds AS idle, throttled_seconds AS throttled, faults, errors_uncorrected AS errors, capacity_seconds AS capacity
        FROM {{.DB}}.rolled_devices
        WHERE hour >= toStartOfHour({to:DateTime64(3, 'UTC')}) - INTERVAL 14 DAY AND hour < {to:DateTime64(3, 'UTC')} AND {{.InForce}}
    ),
    jobs AS
    (
        SELECT if(cluster = '', 'default', cluster) AS cluster, tenant, queue, type, simulated, hour >= ending - INTERVAL 7 DAY AS recent, placed, ended, state, evictions,
            queue_seconds, run_seconds, queue_broken + deadline_broken + latency_broken AS broken, queue_kept + deadline_kept + latency_kept AS kept
        FROM {{.DB}}.rolled_tasks
        WHERE hour >= toStartOfHour({to:DateTime64(3, 'UTC')}) - INTERVAL 14 DAY AND hour < {to:DateTime64(3, 'UTC')} AND counted AND {{.InForce}}
    )
SELECT
    figure, unit, dimension, value, simulated, anyIf(v, NOT recent) AS before, anyIf(v, recent) AS after,
    (after - before) / before * if(figure = 'used ratio', -1, 1) AS change_ratio
FROM
(
    SELECT 'used ratio' AS figure, 'ratio' AS unit, 'model' AS dimension, toString(model) AS value, simulated, recent, sum(busy) / sum(observed) AS v
    FROM devices GROUP BY model, simulated, recent HAVING sum(observed) >= 3600
    UNION ALL
    SELECT 'idle while held', 'ratio', 'model', toString(model), simulated, recent, sum(idle) / sum(held)
    FROM devices GROUP BY model, simulated, recent HAVING sum(held) >= 3600
    UNION ALL
    SELECT 'throttled', 'ratio', 'model', toString(model), simulated, recent, sum(throttled) / sum(observed)
    FROM devices GROUP BY model, simulated, recent HAVING sum(observed) >= 3600
    UNION ALL
    SELECT 'faults per device day', 'count', 'model', toString(model), simulated, recent, sum(faults) / (sum(capacity) / 86400)
    FROM devices GROUP BY model, simulated, recent HAVING sum(capacity) >= 3600
    UNION ALL
    SELECT 'queue time p95', 's', 'queue', toString(queue), simulated, recent, quantileExactIf(0.95)(assumeNotNull(queue_seconds), placed)
    FROM jobs GROUP BY queue, simulated, recent HAVING countIf(placed) >= 5
    UNION ALL
    SELECT 'run time p50', 's', 'type', toString(type), simulated, recent, quantileExactIf(0.5)(assumeNotNull(run_seconds), ended AND state = 'finished')
    FROM jobs GROUP BY type, simulated, recent HAVING countIf(ended AND state = 'finished') >= 5
    UNION ALL
    SELECT 'failed', 'ratio', 'tenant', toString(tenant), simulated, recent, countIf(ended AND state = 'failed') / countIf(ended)
    FROM jobs GROUP BY tenant, simulated, recent HAVING countIf(ended) >= 5
    UNION ALL
    SELECT 'broken promises', 'ratio', 'tenant', toString(tenant), simulated, recent, sum(broken) / (sum(broken) + sum(kept))
    FROM jobs GROUP BY tenant, simulated, recent HAVING sum(broken) + sum(kept) >= 5
)
GROUP BY figure, unit, dimension, value, simulated
HAVING count() = 2 AND isFinite(change_ratio) AND before > 0
