-- +goose NO TRANSACTION
-- +goose Up

-- What range functions need to know of 5 minutes or an hour of a series: windows longer than the
-- stream's memory are made of panes, and of samples at their ends. Only series that some feature
-- reads over such a window have panes. A pane is computed whole, from the samples that came in
-- time; computed again it replaces itself. Their order is that of time, since a window reads all
-- series of a few stretches.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "sample_panes"}}{{.OnCluster}}
(
    length UInt32 COMMENT 's: 300, or 3600' CODEC(ZSTD(1)),
    pane DateTime('UTC') COMMENT 'its start' CODEC(Delta, ZSTD(1)),
    series UInt64 COMMENT 'id of the series: series.id' CODEC(Delta, ZSTD(1)),
    n UInt32 COMMENT 'samples, without staleness markers and those without a value to reckon with' CODEC(ZSTD(1)),
    first_ts DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    last_ts DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    first Float64 CODEC(ZSTD(1)),
    last Float64 CODEC(ZSTD(1)),
    min Float64 CODEC(ZSTD(1)),
    max Float64 CODEC(ZSTD(1)),
    sum Float64 CODEC(ZSTD(1)),
    spread Float64 COMMENT 'sum of (value - mean)²' CODEC(ZSTD(1)),
    mean_t Float64 COMMENT 'of the times, ms after first_ts' CODEC(ZSTD(1)),
    spread_t Float64 COMMENT 'sum of (time - mean)², s²' CODEC(ZSTD(1)),
    span_tv Float64 COMMENT 'sum of (time - mean)(value - mean), s' CODEC(ZSTD(1)),
    changes UInt32 COMMENT 'samples that differ from the one before' CODEC(ZSTD(1)),
    resets UInt32 COMMENT 'samples that are below the one before' CODEC(ZSTD(1)),
    fallen Float64 COMMENT 'sum of the values before each reset' CODEC(ZSTD(1)),
    made DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when it was computed' CODEC(Delta, ZSTD(1))
)
ENGINE = {{.Engine "ReplacingMergeTree" "made"}}
PARTITION BY toYYYYMMDD(pane)
ORDER BY (length, pane, series)
TTL toDateTime(made) + INTERVAL 40 DAY
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'Stretches of the series that features read over long windows. Read with FINAL.';
-- +goose StatementEnd

{{.Distributed "sample_panes" "bitShiftRight(series, 48)"}}

-- Which panes there are. A row is written after the panes, and goes before they do.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "pane_fills"}}{{.OnCluster}}
(
    selector String COMMENT 'matchers of PromQL, sorted: the series that have the pane',
    length UInt32 COMMENT 's',
    pane DateTime('UTC') COMMENT 'its start' CODEC(Delta, ZSTD(1)),
    made DateTime64(3, 'UTC') COMMENT 'when its computation began' CODEC(Delta, ZSTD(1))
)
ENGINE = {{.Engine "ReplacingMergeTree" "made"}}
PARTITION BY toYYYYMM(pane)
ORDER BY (selector, length, pane)
TTL toDateTime(made) + INTERVAL 35 DAY
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'Which panes are in sample_panes. Read with FINAL.';
-- +goose StatementEnd

{{.Distributed "pane_fills" "cityHash64(selector)"}}
