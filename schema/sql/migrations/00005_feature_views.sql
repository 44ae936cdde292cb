-- +goose NO TRANSACTION
-- +goose Up

-- Which feature views exist, and what each column of them means.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "feature_views"}}{{.OnCluster}}
(
    name String COMMENT 'feature view',
    version Int64,
    feature String,
    position UInt32 COMMENT 'place in the definition, from 0',
    dtype LowCardinality(String),
    unit LowCardinality(String),
    expr String COMMENT 'PromQL',
    description String,
    entity LowCardinality(String),
    keys Array(String) COMMENT 'join keys',
    tier LowCardinality(String),
    interval_ms Int64,
    ttl_ms Int64,
    owner String,
    applied DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when this definition was last applied'
)
ENGINE = {{.Engine "ReplacingMergeTree" "applied"}}
ORDER BY (name, version, feature)
COMMENT 'Feature views and features that were applied. Read with FINAL.';
-- +goose StatementEnd

{{.Distributed "feature_views" "cityHash64(name)"}}
