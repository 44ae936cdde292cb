-- +goose NO TRANSACTION
-- +goose Up

-- What became of each Kafka record. It is written after everything else of the record, so
-- it never claims a row that is not there. Partition and offset are in the key: a replay
-- of a record replaces its row, while a record that the agent sent twice keeps both, and
-- can be counted.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "ingest_ledger"}}{{.OnCluster}}
(
    agent LowCardinality(String) COMMENT 'id of the agent''s spool; a new spool is a new agent',
    seq UInt64 COMMENT 'number of the record, dense from 1 per agent' CODEC(Delta, ZSTD(1)),
    partition Int32 CODEC(Delta, ZSTD(1)),
    offset Int64 CODEC(Delta, ZSTD(1)),
    node LowCardinality(String),
    target LowCardinality(String) COMMENT 'job/instance',
    oldest UInt64 COMMENT 'lowest seq that the agent still held when it sent the record' CODEC(Delta, ZSTD(1)),
    dropped UInt64 COMMENT 'records that the agent had given up by then' CODEC(Delta, ZSTD(1)),
    scrape DateTime64(3, 'UTC') COMMENT 'start of the scrape' CODEC(Delta, ZSTD(1)),
    ingest DateTime64(3, 'UTC') COMMENT 'append time of the broker' CODEC(Delta, ZSTD(1)),
    rows UInt32 COMMENT 'samples stored' CODEC(Delta, ZSTD(1)),
    late UInt32 COMMENT 'of them, too late for a feature row' CODEC(ZSTD(1)),
    duplicates UInt32 COMMENT 'samples left out: same series and time again' CODEC(ZSTD(1)),
    state UInt8 COMMENT 'state of the scrape, as in the sx-state header' CODEC(ZSTD(1)),
    written DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when the row was written' CODEC(Delta, ZSTD(1))
)
ENGINE = {{.Engine "ReplacingMergeTree"}}
PARTITION BY toYYYYMMDD(scrape)
ORDER BY (agent, seq, partition, offset)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1{{.DedupWindow}}
COMMENT 'One row per record: what makes loss and duplication countable. Read with FINAL.';
-- +goose StatementEnd

{{.Distributed "ingest_ledger" "cityHash64(node)"}}

-- The lowest seq that was ever seen of an agent. It outlives the ledger's rows, and tells
-- a gap at the start from rows that have expired.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "agents"}}{{.OnCluster}}
(
    agent String,
    node SimpleAggregateFunction(anyLast, String),
    first_seq SimpleAggregateFunction(min, UInt64),
    first_scrape SimpleAggregateFunction(min, DateTime64(3, 'UTC'))
)
ENGINE = {{.Engine "AggregatingMergeTree"}}
ORDER BY agent
COMMENT 'Every agent that ever wrote to the ledger. Read with FINAL.';
-- +goose StatementEnd

{{.Distributed "agents" "cityHash64(node)"}}

-- +goose StatementBegin
CREATE MATERIALIZED VIEW IF NOT EXISTS {{.DB}}.agents_of_ledger{{.OnCluster}} TO {{.Local "agents"}} AS
SELECT agent, anyLast(node) AS node, min(seq) AS first_seq, min(scrape) AS first_scrape
FROM {{.Local "ingest_ledger"}}
GROUP BY agent;
-- +goose StatementEnd
