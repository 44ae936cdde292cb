-- +goose NO TRANSACTION
-- +goose Up

-- Which ticks the store has evaluated of each view of SQL, and as of when: where a restart
-- goes on, and what a backfill asks again to get the same rows. A row is written after the rows
-- of the tick. The view task_log is the daily carry, the view sla the search for breaches.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "derived_ticks"}}{{.OnCluster}}
(
    view String COMMENT 'name@version',
    tick DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    known DateTime64(3, 'UTC') COMMENT 'what came later was not used' CODEC(Delta, ZSTD(1)),
    rows UInt64 COMMENT 'rows that the query gave',
    written DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = {{.Engine "ReplacingMergeTree" "written"}}
PARTITION BY toYYYYMM(tick)
ORDER BY (view, tick)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1{{.DedupWindow}}
COMMENT 'Ticks of the views that the store evaluates. Read with FINAL.';
-- +goose StatementEnd

{{.Distributed "derived_ticks" "cityHash64(view)"}}
