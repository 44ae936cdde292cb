-- +goose NO TRANSACTION
-- +goose Up

-- What a slice has, and how a device is shared. A reading of what a slice has stands beside
-- it in the view slices.
ALTER TABLE {{.Local "inventory_parts"}}{{.OnCluster}}
    ADD COLUMN IF NOT EXISTS slice_bytes Array(UInt64) COMMENT '0: not known',
    ADD COLUMN IF NOT EXISTS slice_cores Array(Float32) COMMENT 'compute parts, 0: not known',
    ADD COLUMN IF NOT EXISTS mig LowCardinality(String) COMMENT 'enabled, disabled, or empty',
    ADD COLUMN IF NOT EXISTS sharing LowCardinality(String) COMMENT 'how whole devices are shared: time-slicing, mps, hami',
    ADD COLUMN IF NOT EXISTS replicas UInt16 COMMENT 'pods that may share the device so, 0: none',
    ADD COLUMN IF NOT EXISTS power_limit_watts Nullable(Float32) COMMENT 'the vendor''s';
{{- if .OnCluster}}

ALTER TABLE {{.DB}}.inventory_parts{{.OnCluster}}
    ADD COLUMN IF NOT EXISTS slice_bytes Array(UInt64),
    ADD COLUMN IF NOT EXISTS slice_cores Array(Float32),
    ADD COLUMN IF NOT EXISTS mig LowCardinality(String),
    ADD COLUMN IF NOT EXISTS sharing LowCardinality(String),
    ADD COLUMN IF NOT EXISTS replicas UInt16,
    ADD COLUMN IF NOT EXISTS power_limit_watts Nullable(Float32);
{{- end}}
