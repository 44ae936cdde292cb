-- +goose NO TRANSACTION
-- +goose Up

-- Baselines of few values tell those that are new from those that they had.
-- +goose StatementBegin
ALTER TABLE {{.Local "feature_baselines"}}{{.OnCluster}} ADD COLUMN IF NOT EXISTS exact UInt8 COMMENT '1: edges are buckets with a bin each, and the bin behind them is for all others' AFTER expected;
-- +goose StatementEnd
{{if .OnCluster}}
-- +goose StatementBegin
ALTER TABLE {{.DB}}.feature_baselines{{.OnCluster}} ADD COLUMN IF NOT EXISTS exact UInt8 COMMENT '1: edges are buckets with a bin each, and the bin behind them is for all others' AFTER expected;
-- +goose StatementEnd
{{end}}