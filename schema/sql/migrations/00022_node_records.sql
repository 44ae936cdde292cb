-- +goose NO TRANSACTION
-- +goose Up

-- One row per node and content of what Kubernetes says of it. An unchanged document that
-- comes again replaces its row, and moves collected and ingest on; another content, such as a
-- condition that turned, begins a row of its own, so the table is the history.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "node_records"}}{{.OnCluster}}
(
    cluster LowCardinality(String),
    node String,
    since DateTime64(3, 'UTC') COMMENT 'first seen with this content' CODEC(Delta, ZSTD(1)),
    collected DateTime64(3, 'UTC') COMMENT 'last told with this content' CODEC(Delta, ZSTD(1)),
    ingest DateTime64(3, 'UTC') COMMENT 'append time of the broker' CODEC(Delta, ZSTD(1)),
    removed UInt8 COMMENT '1: the node was deleted; all other columns are empty',
    hash String COMMENT 'of the content',
    uid String COMMENT 'of the object: another after it was made again',
    created Nullable(DateTime64(3, 'UTC')),
    provider_id String COMMENT 'the cloud''s name of the machine',
    region LowCardinality(String),
    zone LowCardinality(String),
    rack LowCardinality(String),
    ready UInt8 COMMENT 'the condition Ready is True',
    ready_since Nullable(DateTime64(3, 'UTC')) COMMENT 'when Ready became what it is',
    trouble Array(LowCardinality(String)) COMMENT 'other conditions that are True, such as MemoryPressure',
    unschedulable UInt8,
    taints Array(String) COMMENT 'key=value:effect' CODEC(ZSTD(1)),
    labels Map(String, String) CODEC(ZSTD(1)),
    annotations Map(String, String) COMMENT 'those that the watcher keeps' CODEC(ZSTD(1)),
    capacity Map(String, String) COMMENT 'quantities as Kubernetes writes them' CODEC(ZSTD(1)),
    allocatable Map(String, String) COMMENT 'likewise' CODEC(ZSTD(1)),
    capacity_amounts Map(String, Float64) COMMENT 'cpu_cores, memory_bytes, accelerators_<vendor>, others by their own name, as in task_events.requests' CODEC(ZSTD(1)),
    allocatable_amounts Map(String, Float64) COMMENT 'likewise' CODEC(ZSTD(1)),
    condition_types Array(LowCardinality(String)),
    condition_statuses Array(LowCardinality(String)) COMMENT 'True, False or Unknown',
    condition_reasons Array(String) CODEC(ZSTD(1)),
    addresses Array(String) COMMENT 'type=address' CODEC(ZSTD(1)),
    kubelet LowCardinality(String),
    runtime LowCardinality(String),
    os_image LowCardinality(String),
    kernel LowCardinality(String),
    os LowCardinality(String),
    arch LowCardinality(String) COMMENT 'as Go has it',
    boot_id String,
    document String COMMENT 'as it was sent, JSON' CODEC(ZSTD(3))
)
ENGINE = {{.Engine "ReplacingMergeTree" "ingest"}}
ORDER BY (cluster, node, since)
SETTINGS index_granularity = 1024{{.DedupWindow}}
COMMENT 'What Kubernetes said of each node, and since when. Read with FINAL, or through kubernetes_nodes.';
-- +goose StatementEnd

{{.Distributed "node_records" "cityHash64(node)"}}
