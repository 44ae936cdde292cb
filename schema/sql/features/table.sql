CREATE TABLE IF NOT EXISTS {{.Local .Table}}{{.OnCluster}}
(
{{- range .Keys}}
    {{ident .}} LowCardinality(String) COMMENT 'join key',
{{- end}}
    tick DateTime64(3, 'UTC') COMMENT 'the row describes the time before it' CODEC(Delta, ZSTD(1)),
    known DateTime64(3, 'UTC') COMMENT 'earliest time at which the row could be known' CODEC(Delta, ZSTD(1)),
    {{.Flags}},
    {{.Origin}}
{{- range .Columns}},
    {{.Definition}}
{{- end}}
)
ENGINE = {{.Engine "ReplacingMergeTree" "known"}}
PARTITION BY toYYYYMMDD(tick)
ORDER BY ({{range .Keys}}{{ident .}}, {{end}}tick)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1, auto_statistics_types = '', min_bytes_for_wide_part = 134217728{{.DedupWindow}}
COMMENT {{quote .Comment}}
