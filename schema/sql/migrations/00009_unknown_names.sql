-- +goose NO TRANSACTION
-- +goose Up

-- Whose metric a series is that the catalogue does not list.
-- +goose StatementBegin
ALTER TABLE {{.Local "series"}}{{.OnCluster}} ADD COLUMN IF NOT EXISTS unknown_of SimpleAggregateFunction(anyLast, LowCardinality(String)) COMMENT 'vendor, of a metric that the catalogue does not list; empty for all others';
-- +goose StatementEnd
{{if .OnCluster}}
-- +goose StatementBegin
ALTER TABLE {{.DB}}.series{{.OnCluster}} ADD COLUMN IF NOT EXISTS unknown_of SimpleAggregateFunction(anyLast, LowCardinality(String)) COMMENT 'vendor, of a metric that the catalogue does not list; empty for all others';
-- +goose StatementEnd
{{end}}