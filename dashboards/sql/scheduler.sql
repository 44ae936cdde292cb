-- What the scheduler did: placements, waits, evictions. The times are those of task events.

-- name: placed
SELECT uniqExact(cluster, task) AS placed
FROM task_events FINAL
WHERE state = 'scheduled' AND $__timeFilter(time) AND {{events}}

-- name: waiting
SELECT sum(waiting) AS waiting
FROM
(
    SELECT argMax(waiting_tasks, tick) AS waiting
    FROM cluster_business
    WHERE tick > $__toTime - INTERVAL 2 MINUTE AND tick <= $__toTime AND {{all "cluster" "cluster"}}
    GROUP BY cluster
)

-- name: longest
SELECT max(wait) AS wait
FROM
(
    SELECT argMax(longest_wait_seconds, tick) AS wait
    FROM cluster_business
    WHERE tick > $__toTime - INTERVAL 2 MINUTE AND tick <= $__toTime AND {{all "cluster" "cluster"}}
    GROUP BY cluster
)

-- name: evicted
SELECT count() AS evictions
FROM task_events FINAL
WHERE state = 'evicted' AND $__timeFilter(time) AND {{events}}

-- name: states
SELECT $__timeInterval(time) AS time, state, count() AS tasks
FROM task_events FINAL
WHERE state != 'updated' AND $__timeFilter(task_events.time) AND {{events}}
GROUP BY time, state
ORDER BY time

-- name: rate
SELECT $__timeInterval(tick) AS time, cluster, avg(placements_per_second_1h) AS rate
FROM cluster_business
WHERE $__timeFilter(tick) AND {{all "cluster" "cluster"}}
GROUP BY time, cluster
ORDER BY time

-- name: waits
SELECT
    $__timeInterval(tick) AS time,
    max(queue_wait_p50_seconds_1h) AS p50,
    max(queue_wait_p95_seconds_1h) AS p95,
    max(longest_wait_seconds) AS "still waiting, longest"
FROM cluster_business
WHERE $__timeFilter(tick) AND {{all "cluster" "cluster"}}
GROUP BY time
ORDER BY time

-- name: room
SELECT
    $__timeInterval(tick) AS time,
    max(accelerator_capacity) AS "in the cluster",
    sum(accelerators_allocated) / uniqExact(tick) AS allocated,
    sum(accelerators_waiting) / uniqExact(tick) AS "waited for"
FROM cluster_business
WHERE $__timeFilter(tick) AND {{all "cluster" "cluster"}}
GROUP BY time
ORDER BY time

-- name: by_node
SELECT node, count() AS placements
FROM task_events FINAL
WHERE state = 'scheduled' AND node != '' AND $__timeFilter(time) AND {{events}}
GROUP BY node
ORDER BY placements DESC, node
LIMIT 20

-- name: placements
SELECT
    scheduled, task, tenant, queue, type, priority, node, length(devices) AS accelerators,
    queue_seconds AS waited, dateDiff('millisecond', scheduled, started) / 1000 AS "bound to started", attempts, evictions, state
FROM tasks
WHERE (cluster, task) IN
    (
        SELECT cluster, task
        FROM task_events
        WHERE state IN ('scheduled', 'started') AND $__timeFilter(time)
    )
    AND counted AND {{simulated "simulated"}} AND {{tasks}} AND scheduled >= $__fromTime AND scheduled <= $__toTime
ORDER BY scheduled DESC, task
LIMIT 200

-- name: unplaced
SELECT
    b.task AS task, any(t.tenant) AS tenant, any(t.queue) AS queue, any(t.type) AS type,
    argMax(b.queue_wait_seconds, b.tick) AS waited,
    argMax(b.queue_position, b.tick) AS position,
    argMax(b.accelerator_request, b.tick) AS accelerators,
    argMax(b.cpu_request_cores, b.tick) AS cores,
    argMax(b.memory_request_bytes, b.tick) AS memory,
    argMax(b.time_to_deadline_seconds, b.tick) AS "to the deadline",
    argMax(b.unmet_dependencies, b.tick) AS "waits for tasks"
FROM task_business AS b
LEFT JOIN
(
    SELECT task, anyLastIf(tenant, tenant != '') AS tenant, anyLastIf(queue, queue != '') AS queue, anyLastIf(type, type != '') AS type
    FROM task_events
    WHERE task IN (SELECT task FROM task_business WHERE tick > $__toTime - INTERVAL 2 MINUTE AND tick <= $__toTime AND waiting)
    GROUP BY task
) AS t ON t.task = b.task
WHERE b.tick > $__toTime - INTERVAL 2 MINUTE AND b.tick <= $__toTime AND {{all "t.tenant" "tenant"}} AND {{all "t.queue" "queue"}}
GROUP BY task
HAVING argMax(b.waiting, b.tick)
ORDER BY waited DESC, task
LIMIT 200
