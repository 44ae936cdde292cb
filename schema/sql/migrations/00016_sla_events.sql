-- +goose NO TRANSACTION
-- +goose Up

-- One row for each promise that was broken: the first time that it was seen, and how the
-- task, its node and its queue stood then. A breach is written again by a replay and by a
-- second pipeline: of all its rows the one that was known first stays.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "sla_events"}}{{.OnCluster}}
(
    cluster LowCardinality(String),
    task String,
    kind LowCardinality(String) COMMENT 'queue_time, deadline or latency',
    breached DateTime64(3, 'UTC') COMMENT 'when the promise was broken' CODEC(Delta, ZSTD(1)),
    tick DateTime64(3, 'UTC') COMMENT 'at which it was seen' CODEC(Delta, ZSTD(1)),
    known DateTime64(3, 'UTC') COMMENT 'from when it could be known' CODEC(Delta, ZSTD(1)),
    promised Float64 COMMENT 's: the longest wait, from submission to the deadline, or the latency',
    measured Float64 COMMENT 's: likewise, what it was at the tick',
    state LowCardinality(String) COMMENT 'of the task at the tick, as all below',
    tenant LowCardinality(String),
    queue LowCardinality(String),
    type LowCardinality(String),
    priority Nullable(Int64),
    node LowCardinality(String),
    devices Array(String),
    waited_seconds Nullable(Float64),
    evictions UInt32,
    queue_length UInt32 COMMENT 'tasks that wait in its queue',
    tenant_running UInt32 COMMENT 'tasks of its tenant that are bound',
    node_tasks UInt32 COMMENT 'tasks that are bound to its node, itself among them',
    node_cpu_busy Nullable(Float32) COMMENT 'share of the CPU time of its node that was busy, over 1 min',
    node_memory_used Nullable(Float32) COMMENT 'share of the memory of its node',
    device_busy Nullable(Float32) COMMENT 'mean of the busy shares of its accelerators over a minute, or of all of its node',
    simulated UInt8,
    rank Int64 MATERIALIZED -toUnixTimestamp64Milli(known) COMMENT 'the first stays'
)
ENGINE = {{.Engine "ReplacingMergeTree" "rank"}}
PARTITION BY toYYYYMM(breached)
ORDER BY (cluster, task, kind)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1{{.DedupWindow}}
COMMENT 'Promises that were broken, once each. Read with FINAL.';
-- +goose StatementEnd

{{.Distributed "sla_events" "cityHash64(cluster, task)"}}
