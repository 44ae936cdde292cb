-- +goose NO TRANSACTION
-- +goose Up

-- What things cost, from when on. sextant report prices set writes it, and so may SQL. For
-- each hour the newest price of the item counts that is valid by then, and of those the one that
-- says most: of the model, of the vendor, of all ('').
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "prices"}}{{.OnCluster}}
(
    item LowCardinality(String) COMMENT 'device_hour: an hour of a whole device, held or not; kwh: a kilowatt-hour at the device',
    vendor LowCardinality(String) COMMENT 'empty: any',
    model LowCardinality(String) COMMENT 'empty: any',
    valid_from DateTime('UTC'),
    price Float64,
    currency LowCardinality(String) COMMENT 'such as EUR; one for all prices',
    note String COMMENT 'such as who set it and why',
    set_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = {{.Engine "ReplacingMergeTree" "set_at"}}
ORDER BY (item, vendor, model, valid_from)
COMMENT 'Prices of device hours and energy. Read with FINAL.';
-- +goose StatementEnd

{{.Distributed "prices" "cityHash64(item)"}}

-- Which share of promises is to be kept, from when on. Of the targets valid at the end of
-- the time that is asked for, the one that says most counts: tenant and queue, tenant, queue,
-- all (''). Without one it is 99 %.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "slo_targets"}}{{.OnCluster}}
(
    tenant LowCardinality(String) COMMENT 'empty: any',
    queue LowCardinality(String) COMMENT 'empty: any',
    valid_from DateTime('UTC'),
    target Float64 COMMENT 'share of promises to keep, above 0 and below 1',
    note String,
    set_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = {{.Engine "ReplacingMergeTree" "set_at"}}
ORDER BY (tenant, queue, valid_from)
COMMENT 'Objectives for promises to tasks. Read with FINAL.';
-- +goose StatementEnd

{{.Distributed "slo_targets" "cityHash64(tenant)"}}
