-- +goose NO TRANSACTION
-- +goose Up

-- What a series id stands for. Every pipeline start writes its series again: the rows of
-- an id merge into one, which keeps the earliest first_seen.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "series"}}{{.OnCluster}}
(
    id UInt64 COMMENT 'hash of node and labels; the high 16 bits are the node''s' CODEC(Delta, ZSTD(1)),
    node SimpleAggregateFunction(anyLast, LowCardinality(String)),
    name SimpleAggregateFunction(anyLast, LowCardinality(String)) COMMENT 'canonical metric name',
    labels SimpleAggregateFunction(anyLast, Map(String, String)) COMMENT 'sorted by name, with node, without __name__' CODEC(ZSTD(1)),
    kind SimpleAggregateFunction(anyLast, LowCardinality(String)) COMMENT 'counter, gauge, … as the catalogue says',
    unit SimpleAggregateFunction(anyLast, LowCardinality(String)),
    source SimpleAggregateFunction(anyLast, LowCardinality(String)) COMMENT 'the name as it was scraped',
    first_seen SimpleAggregateFunction(min, DateTime64(3, 'UTC')) COMMENT 'event time of the first sample' CODEC(Delta, ZSTD(1))
)
ENGINE = {{.Engine "AggregatingMergeTree"}}
ORDER BY id
SETTINGS index_granularity = 8192{{.DedupWindow}}
COMMENT 'Names and labels of the series in samples. Read with FINAL.';
-- +goose StatementEnd

{{.Distributed "series" "bitShiftRight(id, 48)"}}
