-- +goose NO TRANSACTION
-- +goose Up

-- Values that a tick gave and that are stored nowhere, since they were out of the range or the
-- type of their feature. A replay of the tick writes the same row.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "feature_faults"}}{{.OnCluster}}
(
    view LowCardinality(String) COMMENT 'name@version',
    feature LowCardinality(String),
    tick DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    source LowCardinality(String) COMMENT 'partition of the stream, or sql',
    refused UInt64
)
ENGINE = {{.Engine "ReplacingMergeTree"}}
PARTITION BY toYYYYMMDD(tick)
ORDER BY (view, feature, tick, source)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1{{.DedupWindow}}
COMMENT 'Values that were out of range when they were computed. Read with FINAL.';
-- +goose StatementEnd

{{.Distributed "feature_faults" "cityHash64(view, feature)"}}

-- Hours of views whose rows were written after they had been closed: what was measured of them
-- is measured again.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "feature_changes"}}{{.OnCluster}}
(
    view LowCardinality(String) COMMENT 'name@version',
    hour DateTime('UTC'),
    at DateTime64(3, 'UTC') COMMENT 'of the last write that is known of'
)
ENGINE = {{.Engine "ReplacingMergeTree" "at"}}
PARTITION BY toYYYYMM(hour)
ORDER BY (view, hour)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'Hours of feature views that a backfill, a repair or a push changed. Read with FINAL.';
-- +goose StatementEnd

{{.Distributed "feature_changes" "cityHash64(view)"}}
