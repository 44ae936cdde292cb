-- +goose NO TRANSACTION
-- +goose Up

-- What stands in each place of the vector of a feature service.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "feature_services"}}{{.OnCluster}}
(
    name String COMMENT 'feature service',
    version Int64,
    position UInt32 COMMENT 'place in the vector, from 0',
    view String,
    view_version Int64,
    feature String,
    dtype LowCardinality(String),
    keys Array(String) COMMENT 'join keys of the service',
    applied DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when this definition was last applied'
)
ENGINE = {{.Engine "ReplacingMergeTree" "applied"}}
ORDER BY (name, version, position)
COMMENT 'Feature services that were applied, by place. Read with FINAL.';
-- +goose StatementEnd

{{.Distributed "feature_services" "cityHash64(name)"}}
