-- +goose NO TRANSACTION
-- +goose Up

-- What the values of each feature were in each hour. A row is computed from the rows of the hour
-- and replaces the one before, so it counts nothing twice. buckets and counts are a
-- histogram of logarithmic buckets that adds up exactly: bucket 0 is the value 0; 16001 + k holds
-- the values in (2^((k-1)/32), 2^(k/32)], k from -16000 to 16000, and -(16001 + k) their
-- negatives. Of a feature of strings a bucket is a hash of the value.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "feature_profiles"}}{{.OnCluster}}
(
    view LowCardinality(String) COMMENT 'name@version',
    feature LowCardinality(String),
    hour DateTime('UTC'),
    rows UInt64 COMMENT 'of the view, each once, as corrected',
    entities UInt64 COMMENT 'that have rows, to 1 %',
    ticks UInt32 COMMENT 'that have rows',
    nulls UInt64 COMMENT 'rows without a value',
    outside UInt64 COMMENT 'values that are stored and out of the range as it is defined now',
    refused UInt64 COMMENT 'values that were out of range when they were computed, and are NULL',
    newest DateTime64(3, 'UTC') COMMENT 'tick of the last value; 1970 where there is none',
    lowest Float64 COMMENT 'of the values; 0 where there are none, as for strings',
    highest Float64,
    total Float64,
    text UInt8 COMMENT '1: of strings',
    buckets Array(Int16) CODEC(Delta, ZSTD(1)),
    counts Array(UInt64) CODEC(ZSTD(1)),
    stored UInt64 COMMENT 'rows in the tables, copies among them, when it was made',
    made DateTime64(3, 'UTC') COMMENT 'when'
)
ENGINE = {{.Engine "ReplacingMergeTree" "made"}}
PARTITION BY toYYYYMM(hour)
ORDER BY (view, feature, hour)
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1
COMMENT 'Values of each feature by hour. Read through feature_quality and feature_drift.';
-- +goose StatementEnd

{{.Distributed "feature_profiles" "cityHash64(view, feature)"}}

-- Hours that others are compared with. The values of the hours fall into bins about as
-- often as into each other; the last bin is rows without a value.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "feature_baselines"}}{{.OnCluster}}
(
    baseline LowCardinality(String),
    view LowCardinality(String) COMMENT 'name@version',
    feature LowCardinality(String),
    since DateTime('UTC') COMMENT 'first hour',
    until DateTime('UTC') COMMENT 'the hour after the last',
    hours UInt32 COMMENT 'between, that have rows',
    edges Array(Int16) COMMENT 'highest bucket of each bin of values but the last',
    expected Array(UInt64) COMMENT 'rows in each bin',
    at DateTime64(3, 'UTC') DEFAULT now64(3),
    who String,
    removed UInt8
)
ENGINE = {{.Engine "ReplacingMergeTree" "at"}}
ORDER BY (baseline, view, feature)
COMMENT 'What feature_drift compares with. Read with FINAL, where removed = 0.';
-- +goose StatementEnd

{{.Distributed "feature_baselines" "cityHash64(view, feature)"}}

-- What was served of each hour, beside what is stored of it now.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "feature_skews"}}{{.OnCluster}}
(
    view LowCardinality(String) COMMENT 'name@version',
    feature LowCardinality(String),
    hour DateTime('UTC') COMMENT 'of the ticks that were served',
    compared UInt64 COMMENT 'values in served_features',
    different UInt64 COMMENT 'of them, the row as known then has another',
    corrected UInt64 COMMENT 'of them, the row as corrected has another',
    missing UInt64 COMMENT 'of them, no row is stored',
    largest Float64 COMMENT 'difference of numbers, as corrected',
    made DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = {{.Engine "ReplacingMergeTree" "made"}}
PARTITION BY toYYYYMM(hour)
ORDER BY (view, feature, hour)
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1
COMMENT 'Served values beside stored ones. Read through feature_skew.';
-- +goose StatementEnd

{{.Distributed "feature_skews" "cityHash64(view, feature)"}}
