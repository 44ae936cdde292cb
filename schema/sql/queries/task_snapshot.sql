INSERT INTO {{.DB}}.task_snapshots (run, cluster, task, state, changed, began, tenant, queue, type, priority, owners, group_id, group_size, dependencies,
    node, cpu_cores, memory_bytes, storage_bytes, accelerators, deadline, max_queue_seconds, latency_target_seconds, simulated, submitted, scheduled,
    started, evicted, attempts, evictions, ended, waits, bound, waiting_since, queue_seconds, run_seconds, counted)
SELECT {run:UInt64}, cluster, task, state, changed, began, tenant, queue, type, priority, owners, group_id, group_size, dependencies,
    node, cpu_cores, memory_bytes, storage_bytes, accelerators, deadline, max_queue_seconds, latency_target_seconds, simulated, submitted, scheduled,
    started, evicted, attempts, evictions, ended, waits, bound, waiting_since, queue_seconds, run_seconds, counted
FROM {{.DB}}.tasks_at(tick = {tick:DateTime64(3, 'UTC')}, known = {known:DateTime64(3, 'UTC')})
