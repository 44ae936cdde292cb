-- +goose NO TRANSACTION
-- +goose Up

-- The server would keep statistics of every column for the planning of joins. No query
-- here is planned by them, and of the insert of a sample they are a fifth.
-- +goose StatementBegin
ALTER TABLE {{.Local "samples"}}{{.OnCluster}} MODIFY SETTING auto_statistics_types = '';
-- +goose StatementEnd
