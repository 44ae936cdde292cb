-- +goose NO TRANSACTION
-- +goose Up

-- One row per sample. The order is (series, ts), because a reader wants a series over
-- time; the high bits of a series id are its node's, so the series of a node are
-- neighbours. A row written again (a crash between write and commit) replaces itself; one
-- that comes again too late does not replace the one that feature rows were computed from.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "samples"}}{{.OnCluster}}
(
    series UInt64 COMMENT 'id of the series: series.id' CODEC(ZSTD(1)),
    ts DateTime64(3, 'UTC') COMMENT 'event time' CODEC(Delta, ZSTD(1)),
    value Float64 COMMENT 'in the unit of the series; a stale marker keeps its bits' CODEC(Delta, ZSTD(1)),
    flags UInt8 COMMENT 'bits: 1 event time replaced by the time of the scrape, 2 late, 4 from a partial scrape' CODEC(ZSTD(1)),
    on_time UInt8 MATERIALIZED bitAnd(flags, 2) = 0 COMMENT 'of two writes of one sample, the one in time stays' CODEC(ZSTD(1))
)
ENGINE = {{.Engine "ReplacingMergeTree" "on_time"}}
PARTITION BY toYYYYMMDD(ts)
ORDER BY (series, ts)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1{{.DedupWindow}}
COMMENT 'Every sample, as the pipeline normalised it. Read with FINAL.';
-- +goose StatementEnd

{{.Distributed "samples" "bitShiftRight(series, 48)"}}
