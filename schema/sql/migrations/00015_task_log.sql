-- +goose NO TRANSACTION
-- +goose Up

-- The events that a day's questions about tasks need, so that a question costs what the
-- tasks of the day cost and not what all tasks ever cost: the events that came on the day,
-- and, carried to it (queries/task_log_carry.sql), those of the tasks that had not ended when
-- it began, or had within a day. Rows of an event that came again merge into one, which
-- keeps when it came first: what was known at a time stays what was known. Read it through
-- tasks_at, which needs no FINAL.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "task_log"}}{{.OnCluster}}
(
    day Date COMMENT 'of arrival, or that the event was carried to',
    cluster LowCardinality(String),
    task String,
    place UInt256 COMMENT 'orders the events of a task: 48 bits of time, 64 of sequence, 8 of the state, 96 of the id, 40 of the content' CODEC(ZSTD(1)),
    ingest SimpleAggregateFunction(min, DateTime64(3, 'UTC')) COMMENT 'first append time of the broker' CODEC(Delta, ZSTD(1)),
    time SimpleAggregateFunction(any, DateTime64(3, 'UTC')) COMMENT 'when it happened' CODEC(Delta, ZSTD(1)),
    state SimpleAggregateFunction(any, LowCardinality(String)),
    kind SimpleAggregateFunction(any, LowCardinality(String)),
    tenant SimpleAggregateFunction(any, LowCardinality(String)),
    queue SimpleAggregateFunction(any, LowCardinality(String)),
    type SimpleAggregateFunction(any, LowCardinality(String)),
    priority SimpleAggregateFunction(any, Nullable(Int64)),
    owners SimpleAggregateFunction(any, UInt8) COMMENT 'length of the owner chain',
    owner_ids SimpleAggregateFunction(any, Array(String)),
    group_id SimpleAggregateFunction(any, String),
    group_size SimpleAggregateFunction(any, UInt32),
    dependencies SimpleAggregateFunction(any, Array(String)),
    node SimpleAggregateFunction(any, LowCardinality(String)),
    devices SimpleAggregateFunction(any, Array(String)),
    requests SimpleAggregateFunction(any, UInt8) COMMENT '1: the event says what the task asks for',
    cpu_cores SimpleAggregateFunction(any, Float64),
    memory_bytes SimpleAggregateFunction(any, Float64),
    storage_bytes SimpleAggregateFunction(any, Float64),
    accelerators SimpleAggregateFunction(any, Float64) COMMENT 'of all vendors',
    deadline SimpleAggregateFunction(any, Nullable(DateTime64(3, 'UTC'))),
    max_queue_seconds SimpleAggregateFunction(any, Nullable(Float64)),
    latency_target_seconds SimpleAggregateFunction(any, Nullable(Float64)),
    simulated SimpleAggregateFunction(any, UInt8)
)
ENGINE = {{.Engine "AggregatingMergeTree"}}
PARTITION BY day
ORDER BY (day, cluster, task, place)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1{{.DedupWindow}}
COMMENT 'Events of the tasks that live, by day. Read through tasks_at.';
-- +goose StatementEnd

{{.Distributed "task_log" "cityHash64(cluster, task)"}}

-- +goose StatementBegin
CREATE MATERIALIZED VIEW IF NOT EXISTS {{.DB}}.task_log_of_events{{.OnCluster}} TO {{.Local "task_log"}} AS
SELECT
    toDate(ingest) AS day, cluster, task,
    bitOr(bitOr(bitOr(bitOr(
        bitShiftLeft(toUInt256(toUnixTimestamp64Milli(time)), 208),
        bitShiftLeft(toUInt256(sequence), 144)),
        bitShiftLeft(toUInt256(indexOf(['updated', 'submitted', 'queued', 'scheduled', 'started', 'evicted', 'cancelled', 'failed', 'finished'], state)), 136)),
        bitShiftLeft(toUInt256(reinterpretAsUInt128(reverse(rightPad(substring(event_id, 1, 12), 12, char(0))))), 40)),
        toUInt256(bitAnd(content, 0xffffffffff))) AS place,
    ingest, time, state, kind, tenant, queue, type, priority, toUInt8(length(owner_kinds)) AS owners, owner_ids, group_id, group_size, dependencies,
    node, devices, toUInt8(notEmpty(requests)) AS requests, e.requests['cpu_cores'] AS cpu_cores, e.requests['memory_bytes'] AS memory_bytes,
    e.requests['ephemeral_storage_bytes'] AS storage_bytes,
    arraySum(mapValues(mapFilter((k, v) -> startsWith(k, 'accelerators_'), e.requests))) AS accelerators,
    deadline, max_queue_seconds, latency_target_seconds, simulated
FROM {{.Local "task_events"}} AS e;
-- +goose StatementEnd

-- The tasks as tasks_at gives them, for the time that the views of one tick are evaluated.
-- Each evaluation has a partition of its own and drops it; what a crash leaves expires.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "task_snapshots"}}{{.OnCluster}}
(
    run UInt64 COMMENT 'of the evaluation',
    made DateTime DEFAULT now(),
    cluster LowCardinality(String),
    task String,
    state LowCardinality(String),
    changed DateTime64(3, 'UTC'),
    began DateTime64(3, 'UTC'),
    tenant LowCardinality(String),
    queue LowCardinality(String),
    type LowCardinality(String),
    priority Nullable(Int64),
    owners UInt8,
    group_id String,
    group_size UInt32,
    dependencies Array(String),
    node LowCardinality(String),
    cpu_cores Float64,
    memory_bytes Float64,
    storage_bytes Float64,
    accelerators Float64,
    deadline Nullable(DateTime64(3, 'UTC')),
    max_queue_seconds Nullable(Float64),
    latency_target_seconds Nullable(Float64),
    simulated UInt8,
    submitted Nullable(DateTime64(3, 'UTC')),
    scheduled Nullable(DateTime64(3, 'UTC')),
    started Nullable(DateTime64(3, 'UTC')),
    evicted Nullable(DateTime64(3, 'UTC')),
    attempts UInt32,
    evictions UInt32,
    ended UInt8,
    waits UInt8,
    bound UInt8,
    waiting_since Nullable(DateTime64(3, 'UTC')),
    queue_seconds Nullable(Float64),
    run_seconds Nullable(Float64),
    counted UInt8 COMMENT '0: it stands for others'
)
ENGINE = MergeTree
PARTITION BY run
ORDER BY (cluster, task)
TTL made + INTERVAL 1 HOUR
SETTINGS ttl_only_drop_parts = 1
COMMENT 'Tasks at the tick that is evaluated, while it is.';
-- +goose StatementEnd

{{.Distributed "task_snapshots" "cityHash64(cluster, task)"}}
