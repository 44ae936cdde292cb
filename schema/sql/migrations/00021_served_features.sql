-- +goose NO TRANSACTION
-- +goose Up

-- A sample of what the feature API answered, to compare with what is stored: a row for each
-- entity and view of an answer. Features, values, texts and statuses have one place each for
-- each feature that was asked for, in the order of the answer.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "served_features"}}{{.OnCluster}}
(
    time DateTime64(3, 'UTC') COMMENT 'of the request' CODEC(Delta, ZSTD(1)),
    view LowCardinality(String) COMMENT 'name@version',
    entity Array(LowCardinality(String)) COMMENT 'values of the view''s keys',
    tick DateTime64(3, 'UTC') COMMENT 'of the row that was served; 1970 where there was none' CODEC(Delta, ZSTD(1)),
    known DateTime64(3, 'UTC') COMMENT 'likewise, the earliest time at which it could be known' CODEC(Delta, ZSTD(1)),
    features Array(LowCardinality(String)) CODEC(ZSTD(1)),
    values Array(Float64) COMMENT 'as served, defaults included; NaN where there is no number' CODEC(ZSTD(1)),
    texts Array(LowCardinality(String)) COMMENT 'as served; empty where there is no text' CODEC(ZSTD(1)),
    statuses Array(LowCardinality(String)) COMMENT 'PRESENT, NULL_VALUE, NOT_FOUND or OUTSIDE_MAX_AGE' CODEC(ZSTD(1))
)
ENGINE = {{.Engine "MergeTree"}}
PARTITION BY toYYYYMMDD(time)
ORDER BY (view, entity, time)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1{{.DedupWindow}}
COMMENT 'A sample of the answers of the feature API.';
-- +goose StatementEnd

{{.Distributed "served_features" "cityHash64(entity)"}}
