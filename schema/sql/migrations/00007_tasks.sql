-- +goose NO TRANSACTION
-- +goose Up

-- One row per event. An event that comes again replaces its row. A sender that gives two
-- events one id breaks the contract: content decides which of them stays, so that the
-- order of arrival does not.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "task_events"}}{{.OnCluster}}
(
    cluster LowCardinality(String),
    task String COMMENT 'uid, unique within the cluster',
    event_id String,
    time DateTime64(3, 'UTC') COMMENT 'when it happened, by its sender' CODEC(Delta, ZSTD(1)),
    sequence UInt64 COMMENT 'orders events of one time; 0: the sender does not count',
    state LowCardinality(String) COMMENT 'updated, submitted, queued, scheduled, started, evicted, cancelled, failed or finished',
    source LowCardinality(String),
    ingest DateTime64(3, 'UTC') COMMENT 'append time of the broker' CODEC(Delta, ZSTD(1)),
    kind LowCardinality(String) COMMENT 'pod, job, podgroup, slurm or custom',
    name String,
    namespace LowCardinality(String),
    tenant LowCardinality(String),
    queue LowCardinality(String),
    type LowCardinality(String) COMMENT 'such as training or inference',
    priority_class LowCardinality(String),
    priority Nullable(Int64),
    qos LowCardinality(String),
    owner_kinds Array(LowCardinality(String)) COMMENT 'from the nearest up',
    owner_names Array(String),
    owner_ids Array(String),
    group_id String COMMENT 'gang that is placed together',
    group_size UInt32,
    dependencies Array(String) COMMENT 'tasks that must finish before',
    node LowCardinality(String),
    devices Array(String) COMMENT 'uids, on node',
    requests Map(String, Float64) COMMENT 'cpu_cores, memory_bytes, accelerators_<vendor>, others by their own name' CODEC(ZSTD(1)),
    limits Map(String, Float64) COMMENT 'likewise' CODEC(ZSTD(1)),
    deadline Nullable(DateTime64(3, 'UTC')),
    max_queue_seconds Nullable(Float64),
    latency_target_seconds Nullable(Float64),
    labels Map(String, String) CODEC(ZSTD(1)),
    simulated UInt8,
    reason String,
    exit_code Nullable(Int32),
    content UInt64 COMMENT 'hash of all that the sender said'
)
ENGINE = {{.Engine "ReplacingMergeTree" "content"}}
PARTITION BY toYYYYMM(time)
ORDER BY (cluster, task, event_id)
SETTINGS index_granularity = 1024{{.DedupWindow}}
COMMENT 'What happened to each task. Read with FINAL, or through tasks.';
-- +goose StatementEnd

{{.Distributed "task_events" "cityHash64(cluster, task)"}}
