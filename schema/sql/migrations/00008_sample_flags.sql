-- +goose NO TRANSACTION
-- +goose Up

-- More can be wrong with a value than eight bits tell. The parts that are there are
-- rewritten in the background; readers see the wider column at once.
-- +goose StatementBegin
ALTER TABLE {{.Local "samples"}}{{.OnCluster}} MODIFY COLUMN flags UInt16 COMMENT 'bits of what is wrong with the value: docs/quality.md' CODEC(ZSTD(1));
-- +goose StatementEnd
{{if .OnCluster}}
-- +goose StatementBegin
ALTER TABLE {{.DB}}.samples{{.OnCluster}} MODIFY COLUMN flags UInt16 COMMENT 'bits of what is wrong with the value: docs/quality.md';
-- +goose StatementEnd
{{end}}