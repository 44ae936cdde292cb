-- +goose NO TRANSACTION
-- +goose Up

-- Records that can never be read, for a look with SQL. The dead-letter topic is where
-- they are kept to be replayed.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "dead_letters"}}{{.OnCluster}}
(
    topic LowCardinality(String),
    partition Int32,
    offset Int64,
    ingest DateTime64(3, 'UTC') COMMENT 'append time of the broker',
    reason String CODEC(ZSTD(3)),
    key String CODEC(ZSTD(3)),
    headers Array(Tuple(String, String)) CODEC(ZSTD(3)),
    value String COMMENT 'the bytes of the record' CODEC(ZSTD(3))
)
ENGINE = {{.Engine "ReplacingMergeTree"}}
PARTITION BY toYYYYMMDD(ingest)
ORDER BY (topic, partition, offset)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1{{.DedupWindow}}
COMMENT 'Records that could not be read, with the reason. Read with FINAL.';
-- +goose StatementEnd

{{.Distributed "dead_letters" "cityHash64(topic, partition)"}}
