-- +goose NO TRANSACTION
-- +goose Up

-- What was applied when, by whom, and in which words. Nothing is ever changed here.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "feature_history"}}{{.OnCluster}}
(
    kind LowCardinality(String) COMMENT 'view or service',
    name String,
    version Int64,
    event LowCardinality(String) COMMENT 'applied, retired or restored',
    at DateTime64(3, 'UTC') COMMENT 'when',
    who String COMMENT 'user and host, or what was named with --as',
    hash String COMMENT 'of what the definition means; its texts for people are not in it',
    definition String COMMENT 'the whole definition, YAML' CODEC(ZSTD(1))
)
ENGINE = {{.Engine "ReplacingMergeTree"}}
ORDER BY (kind, name, version, at, event)
COMMENT 'History of feature views and services. The newest event of a version says whether it is in force.';
-- +goose StatementEnd

{{.Distributed "feature_history" "cityHash64(name)"}}
