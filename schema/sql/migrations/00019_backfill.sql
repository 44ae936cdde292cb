-- +goose NO TRANSACTION
-- +goose Up

-- Which parts of which backfills are done: one that is started again goes on where it
-- stopped.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "backfills"}}{{.OnCluster}}
(
    job String COMMENT 'view, range and nodes',
    part String COMMENT 'nodes and range',
    rows UInt64 COMMENT 'rows that were computed',
    stored UInt64 COMMENT 'of them, the store lacked',
    differ UInt64 COMMENT 'values that differ from the stored ones, which stay',
    done DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = {{.Engine "ReplacingMergeTree" "done"}}
ORDER BY (job, part)
TTL toDateTime(done) + INTERVAL 30 DAY
COMMENT 'What backfills have done. Read with FINAL.';
-- +goose StatementEnd

{{.Distributed "backfills" "cityHash64(job)"}}

-- The records of the ledger that had late samples: few, and found without reading it all.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "late_records"}}{{.OnCluster}}
(
    node LowCardinality(String),
    hour DateTime('UTC') COMMENT 'of the scrape',
    partition Int32,
    offset Int64,
    late UInt32 COMMENT 'samples'
)
ENGINE = {{.Engine "ReplacingMergeTree"}}
PARTITION BY toYYYYMMDD(hour)
ORDER BY (node, hour, partition, offset)
TTL hour + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1
COMMENT 'Records with samples that came too late for a row. Read with FINAL.';
-- +goose StatementEnd

{{.Distributed "late_records" "cityHash64(node)"}}

-- +goose StatementBegin
CREATE MATERIALIZED VIEW IF NOT EXISTS {{.DB}}.late_records_of_ledger{{.OnCluster}} TO {{.Local "late_records"}} AS
SELECT node, toStartOfHour(scrape, 'UTC') AS hour, partition, offset, late
FROM {{.Local "ingest_ledger"}}
WHERE late > 0;
-- +goose StatementEnd

-- What was repaired: an hour of a node, with the late samples that it had then.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "repairs"}}{{.OnCluster}}
(
    node LowCardinality(String),
    hour DateTime('UTC') COMMENT 'that the late samples are of',
    late UInt64 COMMENT 'late samples that are in the corrected rows',
    rows UInt64 COMMENT 'rows that they changed',
    status LowCardinality(String) COMMENT 'done, or failed',
    error String COMMENT 'of a repair that failed',
    at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = {{.Engine "ReplacingMergeTree" "at"}}
PARTITION BY toYYYYMMDD(hour)
ORDER BY (node, hour)
TTL hour + INTERVAL 40 DAY
SETTINGS ttl_only_drop_parts = 1
COMMENT 'Repairs of rows that late samples change. Read with FINAL, or through repairs_pending.';
-- +goose StatementEnd

{{.Distributed "repairs" "cityHash64(node)"}}
