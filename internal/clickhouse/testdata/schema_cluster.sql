---- migrations/00001_samples.sql
-- +goose NO TRANSACTION
-- +goose Up

-- One row per sample. The order is (series, ts), because a reader wants a series over
-- time; the high bits of a series id are its node's, so the series of a node are
-- neighbours. A row written again (a crash between write and commit) replaces itself; one
-- that comes again too late does not replace the one that feature rows were computed from.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`samples_local` ON CLUSTER `main`
(
    series UInt64 COMMENT 'id of the series: series.id' CODEC(ZSTD(1)),
    ts DateTime64(3, 'UTC') COMMENT 'event time' CODEC(Delta, ZSTD(1)),
    value Float64 COMMENT 'in the unit of the series; a stale marker keeps its bits' CODEC(Delta, ZSTD(1)),
    flags UInt8 COMMENT 'bits: 1 event time replaced by the time of the scrape, 2 late, 4 from a partial scrape' CODEC(ZSTD(1)),
    on_time UInt8 MATERIALIZED bitAnd(flags, 2) = 0 COMMENT 'of two writes of one sample, the one in time stays' CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', on_time)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (series, ts)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'Every sample, as the pipeline normalised it. Read with FINAL.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`samples` ON CLUSTER `main` AS `sextant`.`samples_local`
ENGINE = Distributed(`main`, 'sextant', 'samples_local', bitShiftRight(series, 48));
---- migrations/00002_series.sql
-- +goose NO TRANSACTION
-- +goose Up

-- What a series id stands for. Every pipeline start writes its series again: the rows of
-- an id merge into one, which keeps the earliest first_seen.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`series_local` ON CLUSTER `main`
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
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
ORDER BY id
SETTINGS index_granularity = 8192
COMMENT 'Names and labels of the series in samples. Read with FINAL.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`series` ON CLUSTER `main` AS `sextant`.`series_local`
ENGINE = Distributed(`main`, 'sextant', 'series_local', bitShiftRight(id, 48));
---- migrations/00003_ingest_ledger.sql
-- +goose NO TRANSACTION
-- +goose Up

-- What became of each Kafka record. It is written after everything else of the record, so
-- it never claims a row that is not there. Partition and offset are in the key: a replay
-- of a record replaces its row, while a record that the agent sent twice keeps both, and
-- can be counted.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`ingest_ledger_local` ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
PARTITION BY toYYYYMMDD(scrape)
ORDER BY (agent, seq, partition, offset)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'One row per record: what makes loss and duplication countable. Read with FINAL.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`ingest_ledger` ON CLUSTER `main` AS `sextant`.`ingest_ledger_local`
ENGINE = Distributed(`main`, 'sextant', 'ingest_ledger_local', cityHash64(node));

-- The lowest seq that was ever seen of an agent. It outlives the ledger's rows, and tells
-- a gap at the start from rows that have expired.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`agents_local` ON CLUSTER `main`
(
    agent String,
    node SimpleAggregateFunction(anyLast, String),
    first_seq SimpleAggregateFunction(min, UInt64),
    first_scrape SimpleAggregateFunction(min, DateTime64(3, 'UTC'))
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
ORDER BY agent
COMMENT 'Every agent that ever wrote to the ledger. Read with FINAL.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`agents` ON CLUSTER `main` AS `sextant`.`agents_local`
ENGINE = Distributed(`main`, 'sextant', 'agents_local', cityHash64(node));

-- +goose StatementBegin
CREATE MATERIALIZED VIEW IF NOT EXISTS `sextant`.agents_of_ledger ON CLUSTER `main` TO `sextant`.`agents_local` AS
SELECT agent, anyLast(node) AS node, min(seq) AS first_seq, min(scrape) AS first_scrape
FROM `sextant`.`ingest_ledger_local`
GROUP BY agent;
-- +goose StatementEnd
---- migrations/00004_dead_letters.sql
-- +goose NO TRANSACTION
-- +goose Up

-- Records that can never be read, for a look with SQL. The dead-letter topic is where
-- they are kept to be replayed.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`dead_letters_local` ON CLUSTER `main`
(
    topic LowCardinality(String),
    partition Int32,
    offset Int64,
    ingest DateTime64(3, 'UTC') COMMENT 'append time of the broker',
    reason String CODEC(ZSTD(3)),
    key String CODEC(ZSTD(3)),
    headers Array(Tuple(String, String)) CODEC(ZSTD(3)),
    value String COMMENT 'the bytes of the record' CODEC(ZSTD(3))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
PARTITION BY toYYYYMMDD(ingest)
ORDER BY (topic, partition, offset)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'Records that could not be read, with the reason. Read with FINAL.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`dead_letters` ON CLUSTER `main` AS `sextant`.`dead_letters_local`
ENGINE = Distributed(`main`, 'sextant', 'dead_letters_local', cityHash64(topic, partition));
---- migrations/00005_feature_views.sql
-- +goose NO TRANSACTION
-- +goose Up

-- Which feature views exist, and what each column of them means.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`feature_views_local` ON CLUSTER `main`
(
    name String COMMENT 'feature view',
    version Int64,
    feature String,
    position UInt32 COMMENT 'place in the definition, from 0',
    dtype LowCardinality(String),
    unit LowCardinality(String),
    expr String COMMENT 'PromQL',
    description String,
    entity LowCardinality(String),
    keys Array(String) COMMENT 'join keys',
    tier LowCardinality(String),
    interval_ms Int64,
    ttl_ms Int64,
    owner String,
    applied DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when this definition was last applied'
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', applied)
ORDER BY (name, version, feature)
COMMENT 'Feature views and features that were applied. Read with FINAL.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`feature_views` ON CLUSTER `main` AS `sextant`.`feature_views_local`
ENGINE = Distributed(`main`, 'sextant', 'feature_views_local', cityHash64(name));
---- migrations/00006_inventory.sql
-- +goose NO TRANSACTION
-- +goose Up

-- One row per node and content. An unchanged document that comes again replaces its row,
-- and moves collected and ingest on; another content begins a row of its own, so the
-- table is the history. An agent that starts again begins a row too, with the same hash.
-- Rows stay: a node that has not changed for a year must not fall out of the cluster.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`inventories_local` ON CLUSTER `main`
(
    node String,
    since DateTime64(3, 'UTC') COMMENT 'first reading with this content, of this run of the agent' CODEC(Delta, ZSTD(1)),
    collected DateTime64(3, 'UTC') COMMENT 'last reading with this content that was sent' CODEC(Delta, ZSTD(1)),
    ingest DateTime64(3, 'UTC') COMMENT 'append time of the broker' CODEC(Delta, ZSTD(1)),
    removed UInt8 COMMENT '1: the node is gone; all other columns are empty',
    simulated UInt8 COMMENT '1: not real hardware',
    hash String COMMENT 'of the content',
    arch LowCardinality(String),
    kernel LowCardinality(String),
    os LowCardinality(String),
    os_version LowCardinality(String),
    boot_id String,
    vendor LowCardinality(String) COMMENT 'maker of the machine',
    product LowCardinality(String),
    hypervisor LowCardinality(String) COMMENT 'empty on bare metal',
    cpu_model LowCardinality(String),
    sockets Nullable(UInt16),
    cores Nullable(UInt32) COMMENT 'physical',
    threads Nullable(UInt32),
    memory_bytes Nullable(UInt64),
    numa_nodes UInt16,
    accelerators UInt16,
    nics UInt16,
    region LowCardinality(String),
    zone LowCardinality(String),
    rack LowCardinality(String),
    switch LowCardinality(String),
    cordoned UInt8 COMMENT 'unschedulable in Kubernetes',
    labels Map(String, String) COMMENT 'from the agent''s configuration' CODEC(ZSTD(1)),
    kubernetes_labels Map(String, String) CODEC(ZSTD(1)),
    taints Array(String) COMMENT 'key=value:effect' CODEC(ZSTD(1)),
    allocatable Map(String, String) COMMENT 'quantities as Kubernetes writes them' CODEC(ZSTD(1)),
    faults Array(String) COMMENT 'what the agent could not read' CODEC(ZSTD(1)),
    facts Map(String, String) COMMENT 'the content, flattened: path and value' CODEC(ZSTD(3)),
    document String COMMENT 'as it was sent, JSON' CODEC(ZSTD(3))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', ingest)
ORDER BY (node, since)
SETTINGS index_granularity = 1024
COMMENT 'What each node was made of, and since when. Read with FINAL, or through nodes.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`inventories` ON CLUSTER `main` AS `sextant`.`inventories_local`
ENGINE = Distributed(`main`, 'sextant', 'inventories_local', cityHash64(node));

-- The accelerators, network ports and disks of each row of inventories.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`inventory_parts_local` ON CLUSTER `main`
(
    node String,
    since DateTime64(3, 'UTC') COMMENT 'that of the row in inventories' CODEC(Delta, ZSTD(1)),
    part LowCardinality(String) COMMENT 'accelerator, nic or disk',
    id String COMMENT 'stable: uid, PCI address, WWN',
    ingest DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    name String COMMENT 'of the kernel''s device, if it has one',
    uid String COMMENT 'the vendor''s',
    vendor LowCardinality(String),
    kind LowCardinality(String) COMMENT 'gpu, npu, hpu; ethernet, infiniband; hdd, ssd',
    model LowCardinality(String),
    generation LowCardinality(String),
    compute_capability LowCardinality(String),
    firmware LowCardinality(String),
    driver LowCardinality(String),
    driver_version LowCardinality(String),
    bytes Nullable(UInt64) COMMENT 'memory of an accelerator, size of a disk',
    speed Nullable(Float64) COMMENT 'of a network port, bytes/s',
    up Nullable(UInt8) COMMENT 'whether a network port has a link',
    pci String COMMENT 'address',
    pci_id LowCardinality(String) COMMENT 'vendor:device',
    numa Nullable(Int16),
    link_gigatransfers Nullable(Float32),
    link_width Nullable(UInt8) COMMENT 'lanes in use',
    link_max_width Nullable(UInt8),
    link_bandwidth Nullable(Float64) COMMENT 'bytes/s in one direction',
    rdma LowCardinality(String) COMMENT 'RDMA device of a network port',
    dpu LowCardinality(String),
    partition LowCardinality(String) COMMENT 'of a whole accelerator, such as CPX/NPS4',
    slice_ids Array(String),
    slice_kinds Array(LowCardinality(String)),
    slice_profiles Array(LowCardinality(String))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', ingest)
ORDER BY (node, since, part, id)
SETTINGS index_granularity = 8192
COMMENT 'The parts of each row of inventories. Read with FINAL, or through devices and nics.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`inventory_parts` ON CLUSTER `main` AS `sextant`.`inventory_parts_local`
ENGINE = Distributed(`main`, 'sextant', 'inventory_parts_local', cityHash64(node));

-- The links of each row of inventories.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`inventory_links_local` ON CLUSTER `main`
(
    node String,
    since DateTime64(3, 'UTC') COMMENT 'that of the row in inventories' CODEC(Delta, ZSTD(1)),
    from_part LowCardinality(String) COMMENT 'device, nic, disk, numa or node',
    from_id String,
    to_part LowCardinality(String) COMMENT 'likewise, or place',
    to_id String,
    kind LowCardinality(String),
    ingest DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    bandwidth Nullable(Float64) COMMENT 'bytes/s in one direction',
    latency Nullable(Float64) COMMENT 's, one way',
    distance Nullable(UInt16) COMMENT 'ACPI distance of the NUMA nodes, 10 is local',
    hops UInt16 COMMENT 'PCIe bridges on the way',
    count UInt16 COMMENT 'physical links side by side, 0 where the source does not count',
    degraded UInt8 COMMENT 'a PCIe link on the way lacks lanes',
    origin LowCardinality(String) COMMENT 'derived, stated or configured',
    features Array(Float32) COMMENT 'edge features, in the order of schema/inventory' CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', ingest)
ORDER BY (node, since, from_part, from_id, to_part, to_id, kind)
SETTINGS index_granularity = 8192
COMMENT 'How the parts of a node hang together. Read with FINAL, or through links.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`inventory_links` ON CLUSTER `main` AS `sextant`.`inventory_links_local`
ENGINE = Distributed(`main`, 'sextant', 'inventory_links_local', cityHash64(node));
---- migrations/00007_tasks.sql
-- +goose NO TRANSACTION
-- +goose Up

-- One row per event. An event that comes again replaces its row. A sender that gives two
-- events one id breaks the contract: content decides which of them stays, so that the
-- order of arrival does not.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`task_events_local` ON CLUSTER `main`
(
    cluster LowCardinality(String),
    task String COMMENT 'uid, unique within the cluster',
    event_id String,
    time DateTime64(3, 'UTC') COMMENT 'when it happened, by its sender' CODEC(Delta, ZSTD(1)),
    sequence UInt64 COMMENT 'orders events of one time; 0: the sender does not count',
    state LowCardinality(String) COMMENT 'updated, submitted, queued, scheduled, started, evicted, cancelled, failed or finished',
    source LowCardinality(String),
    ingest DateTime64(3, 'UTC') COMMENT 'append time of the broker' CODEC(Delta, ZSTD(1)),
    kind LowCardinality(String) COMMENT 'pod, job, podgroup, slurm or custom',
    name String,
    namespace LowCardinality(String),
    tenant LowCardinality(String),
    queue LowCardinality(String),
    type LowCardinality(String) COMMENT 'such as training or inference',
    priority_class LowCardinality(String),
    priority Nullable(Int64),
    qos LowCardinality(String),
    owner_kinds Array(LowCardinality(String)) COMMENT 'from the nearest up',
    owner_names Array(String),
    owner_ids Array(String),
    group_id String COMMENT 'gang that is placed together',
    group_size UInt32,
    dependencies Array(String) COMMENT 'tasks that must finish before',
    node LowCardinality(String),
    devices Array(String) COMMENT 'uids, on node',
    requests Map(String, Float64) COMMENT 'cpu_cores, memory_bytes, accelerators_<vendor>, others by their own name' CODEC(ZSTD(1)),
    limits Map(String, Float64) COMMENT 'likewise' CODEC(ZSTD(1)),
    deadline Nullable(DateTime64(3, 'UTC')),
    max_queue_seconds Nullable(Float64),
    latency_target_seconds Nullable(Float64),
    labels Map(String, String) CODEC(ZSTD(1)),
    simulated UInt8,
    reason String,
    exit_code Nullable(Int32),
    content UInt64 COMMENT 'hash of all that the sender said'
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', content)
PARTITION BY toYYYYMM(time)
ORDER BY (cluster, task, event_id)
SETTINGS index_granularity = 1024
COMMENT 'What happened to each task. Read with FINAL, or through tasks.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`task_events` ON CLUSTER `main` AS `sextant`.`task_events_local`
ENGINE = Distributed(`main`, 'sextant', 'task_events_local', cityHash64(cluster, task));
---- migrations/00008_sample_flags.sql
-- +goose NO TRANSACTION
-- +goose Up

-- More can be wrong with a value than eight bits tell. The parts that are there are
-- rewritten in the background; readers see the wider column at once.
-- +goose StatementBegin
ALTER TABLE `sextant`.`samples_local` ON CLUSTER `main` MODIFY COLUMN flags UInt16 COMMENT 'bits of what is wrong with the value: docs/quality.md' CODEC(ZSTD(1));
-- +goose StatementEnd

-- +goose StatementBegin
ALTER TABLE `sextant`.samples ON CLUSTER `main` MODIFY COLUMN flags UInt16 COMMENT 'bits of what is wrong with the value: docs/quality.md';
-- +goose StatementEnd
---- migrations/00009_unknown_names.sql
-- +goose NO TRANSACTION
-- +goose Up

-- Whose metric a series is that the catalogue does not list.
-- +goose StatementBegin
ALTER TABLE `sextant`.`series_local` ON CLUSTER `main` ADD COLUMN IF NOT EXISTS unknown_of SimpleAggregateFunction(anyLast, LowCardinality(String)) COMMENT 'vendor, of a metric that the catalogue does not list; empty for all others';
-- +goose StatementEnd

-- +goose StatementBegin
ALTER TABLE `sextant`.series ON CLUSTER `main` ADD COLUMN IF NOT EXISTS unknown_of SimpleAggregateFunction(anyLast, LowCardinality(String)) COMMENT 'vendor, of a metric that the catalogue does not list; empty for all others';
-- +goose StatementEnd
---- migrations/00012_inventory_slices.sql
-- +goose NO TRANSACTION
-- +goose Up

-- What a slice has, and how a device is shared. A reading of what a slice has stands beside
-- it in the view slices.
ALTER TABLE `sextant`.`inventory_parts_local` ON CLUSTER `main`
    ADD COLUMN IF NOT EXISTS slice_bytes Array(UInt64) COMMENT '0: not known',
    ADD COLUMN IF NOT EXISTS slice_cores Array(Float32) COMMENT 'compute parts, 0: not known',
    ADD COLUMN IF NOT EXISTS mig LowCardinality(String) COMMENT 'enabled, disabled, or empty',
    ADD COLUMN IF NOT EXISTS sharing LowCardinality(String) COMMENT 'how whole devices are shared: time-slicing, mps, hami',
    ADD COLUMN IF NOT EXISTS replicas UInt16 COMMENT 'pods that may share the device so, 0: none',
    ADD COLUMN IF NOT EXISTS power_limit_watts Nullable(Float32) COMMENT 'the vendor''s';

ALTER TABLE `sextant`.inventory_parts ON CLUSTER `main`
    ADD COLUMN IF NOT EXISTS slice_bytes Array(UInt64),
    ADD COLUMN IF NOT EXISTS slice_cores Array(Float32),
    ADD COLUMN IF NOT EXISTS mig LowCardinality(String),
    ADD COLUMN IF NOT EXISTS sharing LowCardinality(String),
    ADD COLUMN IF NOT EXISTS replicas UInt16,
    ADD COLUMN IF NOT EXISTS power_limit_watts Nullable(Float32);
---- migrations/00013_feature_history.sql
-- +goose NO TRANSACTION
-- +goose Up

-- What was applied when, by whom, and in which words. Nothing is ever changed here.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`feature_history_local` ON CLUSTER `main`
(
    kind LowCardinality(String) COMMENT 'view or service',
    name String,
    version Int64,
    event LowCardinality(String) COMMENT 'applied, retired or restored',
    at DateTime64(3, 'UTC') COMMENT 'when',
    who String COMMENT 'user and host, or what was named with --as',
    hash String COMMENT 'of what the definition means; its texts for people are not in it',
    definition String COMMENT 'the whole definition, YAML' CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
ORDER BY (kind, name, version, at, event)
COMMENT 'History of feature views and services. The newest event of a version says whether it is in force.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`feature_history` ON CLUSTER `main` AS `sextant`.`feature_history_local`
ENGINE = Distributed(`main`, 'sextant', 'feature_history_local', cityHash64(name));
---- migrations/00014_feature_services.sql
-- +goose NO TRANSACTION
-- +goose Up

-- What stands in each place of the vector of a feature service.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`feature_services_local` ON CLUSTER `main`
(
    name String COMMENT 'feature service',
    version Int64,
    position UInt32 COMMENT 'place in the vector, from 0',
    view String,
    view_version Int64,
    feature String,
    dtype LowCardinality(String),
    keys Array(String) COMMENT 'join keys of the service',
    applied DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when this definition was last applied'
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', applied)
ORDER BY (name, version, position)
COMMENT 'Feature services that were applied, by place. Read with FINAL.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`feature_services` ON CLUSTER `main` AS `sextant`.`feature_services_local`
ENGINE = Distributed(`main`, 'sextant', 'feature_services_local', cityHash64(name));
---- migrations/00015_task_log.sql
-- +goose NO TRANSACTION
-- +goose Up

-- The events that a day's questions about tasks need, so that a question costs what the
-- tasks of the day cost and not what all tasks ever cost: the events that came on the day,
-- and, carried to it (queries/task_log_carry.sql), those of the tasks that had not ended when
-- it began, or had within a day. Rows of an event that came again merge into one, which
-- keeps when it came first: what was known at a time stays what was known. Read it through
-- tasks_at, which needs no FINAL.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`task_log_local` ON CLUSTER `main`
(
    day Date COMMENT 'of arrival, or that the event was carried to',
    cluster LowCardinality(String),
    task String,
    place UInt256 COMMENT 'orders the events of a task: 48 bits of time, 64 of sequence, 8 of the state, 96 of the id, 40 of the content' CODEC(ZSTD(1)),
    ingest SimpleAggregateFunction(min, DateTime64(3, 'UTC')) COMMENT 'first append time of the broker' CODEC(Delta, ZSTD(1)),
    time SimpleAggregateFunction(any, DateTime64(3, 'UTC')) COMMENT 'when it happened' CODEC(Delta, ZSTD(1)),
    state SimpleAggregateFunction(any, LowCardinality(String)),
    kind SimpleAggregateFunction(any, LowCardinality(String)),
    tenant SimpleAggregateFunction(any, LowCardinality(String)),
    queue SimpleAggregateFunction(any, LowCardinality(String)),
    type SimpleAggregateFunction(any, LowCardinality(String)),
    priority SimpleAggregateFunction(any, Nullable(Int64)),
    owners SimpleAggregateFunction(any, UInt8) COMMENT 'length of the owner chain',
    owner_ids SimpleAggregateFunction(any, Array(String)),
    group_id SimpleAggregateFunction(any, String),
    group_size SimpleAggregateFunction(any, UInt32),
    dependencies SimpleAggregateFunction(any, Array(String)),
    node SimpleAggregateFunction(any, LowCardinality(String)),
    devices SimpleAggregateFunction(any, Array(String)),
    requests SimpleAggregateFunction(any, UInt8) COMMENT '1: the event says what the task asks for',
    cpu_cores SimpleAggregateFunction(any, Float64),
    memory_bytes SimpleAggregateFunction(any, Float64),
    storage_bytes SimpleAggregateFunction(any, Float64),
    accelerators SimpleAggregateFunction(any, Float64) COMMENT 'of all vendors',
    deadline SimpleAggregateFunction(any, Nullable(DateTime64(3, 'UTC'))),
    max_queue_seconds SimpleAggregateFunction(any, Nullable(Float64)),
    latency_target_seconds SimpleAggregateFunction(any, Nullable(Float64)),
    simulated SimpleAggregateFunction(any, UInt8)
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
PARTITION BY day
ORDER BY (day, cluster, task, place)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'Events of the tasks that live, by day. Read through tasks_at.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`task_log` ON CLUSTER `main` AS `sextant`.`task_log_local`
ENGINE = Distributed(`main`, 'sextant', 'task_log_local', cityHash64(cluster, task));

-- +goose StatementBegin
CREATE MATERIALIZED VIEW IF NOT EXISTS `sextant`.task_log_of_events ON CLUSTER `main` TO `sextant`.`task_log_local` AS
SELECT
    toDate(ingest) AS day, cluster, task,
    bitOr(bitOr(bitOr(bitOr(
        bitShiftLeft(toUInt256(toUnixTimestamp64Milli(time)), 208),
        bitShiftLeft(toUInt256(sequence), 144)),
        bitShiftLeft(toUInt256(indexOf(['updated', 'submitted', 'queued', 'scheduled', 'started', 'evicted', 'cancelled', 'failed', 'finished'], state)), 136)),
        bitShiftLeft(toUInt256(reinterpretAsUInt128(reverse(rightPad(substring(event_id, 1, 12), 12, char(0))))), 40)),
        toUInt256(bitAnd(content, 0xffffffffff))) AS place,
    ingest, time, state, kind, tenant, queue, type, priority, toUInt8(length(owner_kinds)) AS owners, owner_ids, group_id, group_size, dependencies,
    node, devices, toUInt8(notEmpty(requests)) AS requests, e.requests['cpu_cores'] AS cpu_cores, e.requests['memory_bytes'] AS memory_bytes,
    e.requests['ephemeral_storage_bytes'] AS storage_bytes,
    arraySum(mapValues(mapFilter((k, v) -> startsWith(k, 'accelerators_'), e.requests))) AS accelerators,
    deadline, max_queue_seconds, latency_target_seconds, simulated
FROM `sextant`.`task_events_local` AS e;
-- +goose StatementEnd

-- The tasks as tasks_at gives them, for the time that the views of one tick are evaluated.
-- Each evaluation has a partition of its own and drops it; what a crash leaves expires.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`task_snapshots_local` ON CLUSTER `main`
(
    run UInt64 COMMENT 'of the evaluation',
    made DateTime DEFAULT now(),
    cluster LowCardinality(String),
    task String,
    state LowCardinality(String),
    changed DateTime64(3, 'UTC'),
    began DateTime64(3, 'UTC'),
    tenant LowCardinality(String),
    queue LowCardinality(String),
    type LowCardinality(String),
    priority Nullable(Int64),
    owners UInt8,
    group_id String,
    group_size UInt32,
    dependencies Array(String),
    node LowCardinality(String),
    cpu_cores Float64,
    memory_bytes Float64,
    storage_bytes Float64,
    accelerators Float64,
    deadline Nullable(DateTime64(3, 'UTC')),
    max_queue_seconds Nullable(Float64),
    latency_target_seconds Nullable(Float64),
    simulated UInt8,
    submitted Nullable(DateTime64(3, 'UTC')),
    scheduled Nullable(DateTime64(3, 'UTC')),
    started Nullable(DateTime64(3, 'UTC')),
    evicted Nullable(DateTime64(3, 'UTC')),
    attempts UInt32,
    evictions UInt32,
    ended UInt8,
    waits UInt8,
    bound UInt8,
    waiting_since Nullable(DateTime64(3, 'UTC')),
    queue_seconds Nullable(Float64),
    run_seconds Nullable(Float64),
    counted UInt8 COMMENT '0: it stands for others'
)
ENGINE = MergeTree
PARTITION BY run
ORDER BY (cluster, task)
TTL made + INTERVAL 1 HOUR
SETTINGS ttl_only_drop_parts = 1
COMMENT 'Tasks at the tick that is evaluated, while it is.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`task_snapshots` ON CLUSTER `main` AS `sextant`.`task_snapshots_local`
ENGINE = Distributed(`main`, 'sextant', 'task_snapshots_local', cityHash64(cluster, task));
---- migrations/00016_sla_events.sql
-- +goose NO TRANSACTION
-- +goose Up

-- One row for each promise that was broken: the first time that it was seen, and how the
-- task, its node and its queue stood then. A breach is written again by a replay and by a
-- second pipeline: of all its rows the one that was known first stays.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`sla_events_local` ON CLUSTER `main`
(
    cluster LowCardinality(String),
    task String,
    kind LowCardinality(String) COMMENT 'queue_time, deadline or latency',
    breached DateTime64(3, 'UTC') COMMENT 'when the promise was broken' CODEC(Delta, ZSTD(1)),
    tick DateTime64(3, 'UTC') COMMENT 'at which it was seen' CODEC(Delta, ZSTD(1)),
    known DateTime64(3, 'UTC') COMMENT 'from when it could be known' CODEC(Delta, ZSTD(1)),
    promised Float64 COMMENT 's: the longest wait, from submission to the deadline, or the latency',
    measured Float64 COMMENT 's: likewise, what it was at the tick',
    state LowCardinality(String) COMMENT 'of the task at the tick, as all below',
    tenant LowCardinality(String),
    queue LowCardinality(String),
    type LowCardinality(String),
    priority Nullable(Int64),
    node LowCardinality(String),
    devices Array(String),
    waited_seconds Nullable(Float64),
    evictions UInt32,
    queue_length UInt32 COMMENT 'tasks that wait in its queue',
    tenant_running UInt32 COMMENT 'tasks of its tenant that are bound',
    node_tasks UInt32 COMMENT 'tasks that are bound to its node, itself among them',
    node_cpu_busy Nullable(Float32) COMMENT 'share of the CPU time of its node that was busy, over 1 min',
    node_memory_used Nullable(Float32) COMMENT 'share of the memory of its node',
    device_busy Nullable(Float32) COMMENT 'mean of the busy shares of its accelerators over a minute, or of all of its node',
    simulated UInt8,
    rank Int64 MATERIALIZED -toUnixTimestamp64Milli(known) COMMENT 'the first stays'
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', rank)
PARTITION BY toYYYYMM(breached)
ORDER BY (cluster, task, kind)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'Promises that were broken, once each. Read with FINAL.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`sla_events` ON CLUSTER `main` AS `sextant`.`sla_events_local`
ENGINE = Distributed(`main`, 'sextant', 'sla_events_local', cityHash64(cluster, task));
---- migrations/00017_derived_ticks.sql
-- +goose NO TRANSACTION
-- +goose Up

-- Which ticks the store has evaluated of each view of SQL, and as of when: where a restart
-- goes on, and what a backfill asks again to get the same rows. A row is written after the rows
-- of the tick. The view task_log is the daily carry, the view sla the search for breaches.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`derived_ticks_local` ON CLUSTER `main`
(
    view String COMMENT 'name@version',
    tick DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    known DateTime64(3, 'UTC') COMMENT 'what came later was not used' CODEC(Delta, ZSTD(1)),
    rows UInt64 COMMENT 'rows that the query gave',
    written DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', written)
PARTITION BY toYYYYMM(tick)
ORDER BY (view, tick)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'Ticks of the views that the store evaluates. Read with FINAL.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`derived_ticks` ON CLUSTER `main` AS `sextant`.`derived_ticks_local`
ENGINE = Distributed(`main`, 'sextant', 'derived_ticks_local', cityHash64(view));
---- migrations/00019_backfill.sql
-- +goose NO TRANSACTION
-- +goose Up

-- Which parts of which backfills are done: one that is started again goes on where it
-- stopped.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`backfills_local` ON CLUSTER `main`
(
    job String COMMENT 'view, range and nodes',
    part String COMMENT 'nodes and range',
    rows UInt64 COMMENT 'rows that were computed',
    stored UInt64 COMMENT 'of them, the store lacked',
    differ UInt64 COMMENT 'values that differ from the stored ones, which stay',
    done DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', done)
ORDER BY (job, part)
TTL toDateTime(done) + INTERVAL 30 DAY
COMMENT 'What backfills have done. Read with FINAL.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`backfills` ON CLUSTER `main` AS `sextant`.`backfills_local`
ENGINE = Distributed(`main`, 'sextant', 'backfills_local', cityHash64(job));

-- The records of the ledger that had late samples: few, and found without reading it all.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`late_records_local` ON CLUSTER `main`
(
    node LowCardinality(String),
    hour DateTime('UTC') COMMENT 'of the scrape',
    partition Int32,
    offset Int64,
    late UInt32 COMMENT 'samples'
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
PARTITION BY toYYYYMMDD(hour)
ORDER BY (node, hour, partition, offset)
TTL hour + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1
COMMENT 'Records with samples that came too late for a row. Read with FINAL.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`late_records` ON CLUSTER `main` AS `sextant`.`late_records_local`
ENGINE = Distributed(`main`, 'sextant', 'late_records_local', cityHash64(node));

-- +goose StatementBegin
CREATE MATERIALIZED VIEW IF NOT EXISTS `sextant`.late_records_of_ledger ON CLUSTER `main` TO `sextant`.`late_records_local` AS
SELECT node, toStartOfHour(scrape, 'UTC') AS hour, partition, offset, late
FROM `sextant`.`ingest_ledger_local`
WHERE late > 0;
-- +goose StatementEnd

-- What was repaired: an hour of a node, with the late samples that it had then.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`repairs_local` ON CLUSTER `main`
(
    node LowCardinality(String),
    hour DateTime('UTC') COMMENT 'that the late samples are of',
    late UInt64 COMMENT 'late samples that are in the corrected rows',
    rows UInt64 COMMENT 'rows that they changed',
    status LowCardinality(String) COMMENT 'done, or failed',
    error String COMMENT 'of a repair that failed',
    at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', at)
PARTITION BY toYYYYMMDD(hour)
ORDER BY (node, hour)
TTL hour + INTERVAL 40 DAY
SETTINGS ttl_only_drop_parts = 1
COMMENT 'Repairs of rows that late samples change. Read with FINAL, or through repairs_pending.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`repairs` ON CLUSTER `main` AS `sextant`.`repairs_local`
ENGINE = Distributed(`main`, 'sextant', 'repairs_local', cityHash64(node));
---- migrations/00021_served_features.sql
-- +goose NO TRANSACTION
-- +goose Up

-- A sample of what the feature API answered, to compare with what is stored: a row for each
-- entity and view of an answer. Features, values, texts and statuses have one place each for
-- each feature that was asked for, in the order of the answer.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`served_features_local` ON CLUSTER `main`
(
    time DateTime64(3, 'UTC') COMMENT 'of the request' CODEC(Delta, ZSTD(1)),
    view LowCardinality(String) COMMENT 'name@version',
    entity Array(LowCardinality(String)) COMMENT 'values of the view''s keys',
    tick DateTime64(3, 'UTC') COMMENT 'of the row that was served; 1970 where there was none' CODEC(Delta, ZSTD(1)),
    known DateTime64(3, 'UTC') COMMENT 'likewise, the earliest time at which it could be known' CODEC(Delta, ZSTD(1)),
    features Array(LowCardinality(String)) CODEC(ZSTD(1)),
    values Array(Float64) COMMENT 'as served, defaults included; NaN where there is no number' CODEC(ZSTD(1)),
    texts Array(LowCardinality(String)) COMMENT 'as served; empty where there is no text' CODEC(ZSTD(1)),
    statuses Array(LowCardinality(String)) COMMENT 'PRESENT, NULL_VALUE, NOT_FOUND or OUTSIDE_MAX_AGE' CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
PARTITION BY toYYYYMMDD(time)
ORDER BY (view, entity, time)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'A sample of the answers of the feature API.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`served_features` ON CLUSTER `main` AS `sextant`.`served_features_local`
ENGINE = Distributed(`main`, 'sextant', 'served_features_local', cityHash64(entity));
---- migrations/00022_node_records.sql
-- +goose NO TRANSACTION
-- +goose Up

-- One row per node and content of what Kubernetes says of it. An unchanged document that
-- comes again replaces its row, and moves collected and ingest on; another content, such as a
-- condition that turned, begins a row of its own, so the table is the history.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`node_records_local` ON CLUSTER `main`
(
    cluster LowCardinality(String),
    node String,
    since DateTime64(3, 'UTC') COMMENT 'first seen with this content' CODEC(Delta, ZSTD(1)),
    collected DateTime64(3, 'UTC') COMMENT 'last told with this content' CODEC(Delta, ZSTD(1)),
    ingest DateTime64(3, 'UTC') COMMENT 'append time of the broker' CODEC(Delta, ZSTD(1)),
    removed UInt8 COMMENT '1: the node was deleted; all other columns are empty',
    hash String COMMENT 'of the content',
    uid String COMMENT 'of the object: another after it was made again',
    created Nullable(DateTime64(3, 'UTC')),
    provider_id String COMMENT 'the cloud''s name of the machine',
    region LowCardinality(String),
    zone LowCardinality(String),
    rack LowCardinality(String),
    ready UInt8 COMMENT 'the condition Ready is True',
    ready_since Nullable(DateTime64(3, 'UTC')) COMMENT 'when Ready became what it is',
    trouble Array(LowCardinality(String)) COMMENT 'other conditions that are True, such as MemoryPressure',
    unschedulable UInt8,
    taints Array(String) COMMENT 'key=value:effect' CODEC(ZSTD(1)),
    labels Map(String, String) CODEC(ZSTD(1)),
    annotations Map(String, String) COMMENT 'those that the watcher keeps' CODEC(ZSTD(1)),
    capacity Map(String, String) COMMENT 'quantities as Kubernetes writes them' CODEC(ZSTD(1)),
    allocatable Map(String, String) COMMENT 'likewise' CODEC(ZSTD(1)),
    capacity_amounts Map(String, Float64) COMMENT 'cpu_cores, memory_bytes, accelerators_<vendor>, others by their own name, as in task_events.requests' CODEC(ZSTD(1)),
    allocatable_amounts Map(String, Float64) COMMENT 'likewise' CODEC(ZSTD(1)),
    condition_types Array(LowCardinality(String)),
    condition_statuses Array(LowCardinality(String)) COMMENT 'True, False or Unknown',
    condition_reasons Array(String) CODEC(ZSTD(1)),
    addresses Array(String) COMMENT 'type=address' CODEC(ZSTD(1)),
    kubelet LowCardinality(String),
    runtime LowCardinality(String),
    os_image LowCardinality(String),
    kernel LowCardinality(String),
    os LowCardinality(String),
    arch LowCardinality(String) COMMENT 'as Go has it',
    boot_id String,
    document String COMMENT 'as it was sent, JSON' CODEC(ZSTD(3))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', ingest)
ORDER BY (cluster, node, since)
SETTINGS index_granularity = 1024
COMMENT 'What Kubernetes said of each node, and since when. Read with FINAL, or through kubernetes_nodes.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`node_records` ON CLUSTER `main` AS `sextant`.`node_records_local`
ENGINE = Distributed(`main`, 'sextant', 'node_records_local', cityHash64(node));
---- migrations/00024_feature_faults.sql
-- +goose NO TRANSACTION
-- +goose Up

-- Values that a tick gave and that are stored nowhere, since they were out of the range or the
-- type of their feature. A replay of the tick writes the same row.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`feature_faults_local` ON CLUSTER `main`
(
    view LowCardinality(String) COMMENT 'name@version',
    feature LowCardinality(String),
    tick DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    source LowCardinality(String) COMMENT 'partition of the stream, or sql',
    refused UInt64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
PARTITION BY toYYYYMMDD(tick)
ORDER BY (view, feature, tick, source)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'Values that were out of range when they were computed. Read with FINAL.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`feature_faults` ON CLUSTER `main` AS `sextant`.`feature_faults_local`
ENGINE = Distributed(`main`, 'sextant', 'feature_faults_local', cityHash64(view, feature));

-- Hours of views whose rows were written after they had been closed: what was measured of them
-- is measured again.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`feature_changes_local` ON CLUSTER `main`
(
    view LowCardinality(String) COMMENT 'name@version',
    hour DateTime('UTC'),
    at DateTime64(3, 'UTC') COMMENT 'of the last write that is known of'
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', at)
PARTITION BY toYYYYMM(hour)
ORDER BY (view, hour)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'Hours of feature views that a backfill, a repair or a push changed. Read with FINAL.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`feature_changes` ON CLUSTER `main` AS `sextant`.`feature_changes_local`
ENGINE = Distributed(`main`, 'sextant', 'feature_changes_local', cityHash64(view));
---- migrations/00025_feature_profiles.sql
-- +goose NO TRANSACTION
-- +goose Up

-- What the values of each feature were in each hour. A row is computed from the rows of the hour
-- and replaces the one before, so it counts nothing twice. buckets and counts are a
-- histogram of logarithmic buckets that adds up exactly: bucket 0 is the value 0; 16001 + k holds
-- the values in (2^((k-1)/32), 2^(k/32)], k from -16000 to 16000, and -(16001 + k) their
-- negatives. Of a feature of strings a bucket is a hash of the value.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`feature_profiles_local` ON CLUSTER `main`
(
    view LowCardinality(String) COMMENT 'name@version',
    feature LowCardinality(String),
    hour DateTime('UTC'),
    rows UInt64 COMMENT 'of the view, each once, as corrected',
    entities UInt64 COMMENT 'that have rows, to 1 %',
    ticks UInt32 COMMENT 'that have rows',
    nulls UInt64 COMMENT 'rows without a value',
    outside UInt64 COMMENT 'values that are stored and out of the range as it is defined now',
    refused UInt64 COMMENT 'values that were out of range when they were computed, and are NULL',
    newest DateTime64(3, 'UTC') COMMENT 'tick of the last value; 1970 where there is none',
    lowest Float64 COMMENT 'of the values; 0 where there are none, as for strings',
    highest Float64,
    total Float64,
    text UInt8 COMMENT '1: of strings',
    buckets Array(Int16) CODEC(Delta, ZSTD(1)),
    counts Array(UInt64) CODEC(ZSTD(1)),
    stored UInt64 COMMENT 'rows in the tables, copies among them, when it was made',
    made DateTime64(3, 'UTC') COMMENT 'when'
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', made)
PARTITION BY toYYYYMM(hour)
ORDER BY (view, feature, hour)
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1
COMMENT 'Values of each feature by hour. Read through feature_quality and feature_drift.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`feature_profiles` ON CLUSTER `main` AS `sextant`.`feature_profiles_local`
ENGINE = Distributed(`main`, 'sextant', 'feature_profiles_local', cityHash64(view, feature));

-- Hours that others are compared with. The values of the hours fall into bins about as
-- often as into each other; the last bin is rows without a value.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`feature_baselines_local` ON CLUSTER `main`
(
    baseline LowCardinality(String),
    view LowCardinality(String) COMMENT 'name@version',
    feature LowCardinality(String),
    since DateTime('UTC') COMMENT 'first hour',
    until DateTime('UTC') COMMENT 'the hour after the last',
    hours UInt32 COMMENT 'between, that have rows',
    edges Array(Int16) COMMENT 'highest bucket of each bin of values but the last',
    expected Array(UInt64) COMMENT 'rows in each bin',
    at DateTime64(3, 'UTC') DEFAULT now64(3),
    who String,
    removed UInt8
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', at)
ORDER BY (baseline, view, feature)
COMMENT 'What feature_drift compares with. Read with FINAL, where removed = 0.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`feature_baselines` ON CLUSTER `main` AS `sextant`.`feature_baselines_local`
ENGINE = Distributed(`main`, 'sextant', 'feature_baselines_local', cityHash64(view, feature));

-- What was served of each hour, beside what is stored of it now.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`feature_skews_local` ON CLUSTER `main`
(
    view LowCardinality(String) COMMENT 'name@version',
    feature LowCardinality(String),
    hour DateTime('UTC') COMMENT 'of the ticks that were served',
    compared UInt64 COMMENT 'values in served_features',
    different UInt64 COMMENT 'of them, the row as known then has another',
    corrected UInt64 COMMENT 'of them, the row as corrected has another',
    missing UInt64 COMMENT 'of them, no row is stored',
    largest Float64 COMMENT 'difference of numbers, as corrected',
    made DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', made)
PARTITION BY toYYYYMM(hour)
ORDER BY (view, feature, hour)
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1
COMMENT 'Served values beside stored ones. Read through feature_skew.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`feature_skews` ON CLUSTER `main` AS `sextant`.`feature_skews_local`
ENGINE = Distributed(`main`, 'sextant', 'feature_skews_local', cityHash64(view, feature));
---- migrations/00026_rollups.sql
-- +goose NO TRANSACTION
-- +goose Up

-- What was used, held and promised, by the hour: what reports read in place of samples. The
-- rows of an hour are computed together, by one run, from what the store holds of the hour, and
-- count only while rolled_hours names that run. So rows that came twice, late or corrected are
-- rolled up by computing the hour again, and nothing is ever added to (docs/adr/0027).

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`rolled_hours_local` ON CLUSTER `main`
(
    hour DateTime('UTC') COMMENT 'its start',
    run UInt64 COMMENT 'that counts: the newest',
    until DateTime64(3, 'UTC') COMMENT 'what came before it is in: the end of the hour, or earlier while it lasts',
    closed UInt8 COMMENT '1: the hour was over, and settled',
    seen UInt64 COMMENT 'hash of which rows the store had of the hour; another now means that some came later',
    rows UInt64 COMMENT 'rows that the run wrote',
    made DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when'
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', run)
PARTITION BY toYYYYMM(hour)
ORDER BY hour
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'Which run of each hour counts in the tables rolled_*. Read with FINAL.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`rolled_hours` ON CLUSTER `main` AS `sextant`.`rolled_hours_local`
ENGINE = Distributed(`main`, 'sextant', 'rolled_hours_local', toUnixTimestamp(hour));

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`rolled_tasks_local` ON CLUSTER `main`
(
    hour DateTime('UTC'),
    run UInt64,
    cluster LowCardinality(String),
    task String,
    name String,
    namespace LowCardinality(String),
    tenant LowCardinality(String),
    queue LowCardinality(String),
    type LowCardinality(String),
    node LowCardinality(String) COMMENT 'the last that it was bound to',
    cpu_cores Float64 COMMENT 'that it asks for, as the two below',
    memory_bytes Float64,
    accelerators Float64 COMMENT 'whole ones, of all vendors',
    state LowCardinality(String) COMMENT 'at the end of the hour',
    counted UInt8 COMMENT '0: it stands for others',
    simulated UInt8,
    wait_seconds Float64 COMMENT 'that it waited in the hour',
    bound_seconds Float64 COMMENT 'that it was bound to a node in the hour',
    placed UInt8 COMMENT '1: first placed in the hour',
    ended UInt8 COMMENT '1: ended in the hour',
    evictions UInt32 COMMENT 'in the hour',
    submitted Nullable(DateTime64(3, 'UTC')),
    queue_seconds Nullable(Float64) COMMENT 's that it waited until it was first placed',
    run_seconds Nullable(Float64) COMMENT 's of the last run, of a task that ended',
    total_seconds Nullable(Float64) COMMENT 's from submission to the end, of a task that ended',
    queue_kept UInt8 COMMENT '1: in the hour it turned out that the promised wait was kept',
    queue_broken UInt8 COMMENT '1: in the hour it was broken',
    deadline_kept UInt8 COMMENT 'likewise for the deadline',
    deadline_broken UInt8,
    latency_kept UInt8 COMMENT 'likewise for the latency, kept when the task ends',
    latency_broken UInt8,
    bound_from Array(DateTime64(3, 'UTC')) COMMENT 'when it was bound, within the hour; one place each in the three below',
    bound_to Array(DateTime64(3, 'UTC')),
    bound_node Array(LowCardinality(String)),
    bound_devices Array(Array(String)) COMMENT 'what the scheduler says that it holds'
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
PARTITION BY toYYYYMMDD(hour)
ORDER BY (hour, run, cluster, task)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'What each task did in each hour. Read through task_hours.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`rolled_tasks` ON CLUSTER `main` AS `sextant`.`rolled_tasks_local`
ENGINE = Distributed(`main`, 'sextant', 'rolled_tasks_local', cityHash64(cluster, task));

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`rolled_allocations_local` ON CLUSTER `main`
(
    hour DateTime('UTC'),
    run UInt64,
    node LowCardinality(String),
    device String COMMENT 'as in the labels of its series',
    slice LowCardinality(String) COMMENT 'empty: the whole device',
    cluster LowCardinality(String),
    task String COMMENT 'or namespace/pod of an owner that no event tells of',
    tenant LowCardinality(String),
    queue LowCardinality(String),
    type LowCardinality(String),
    simulated UInt8,
    share Float64 COMMENT 'of the device, 0 to 1',
    allocated_seconds Float64 COMMENT 'of whole devices, as all below: times share, over the number of owners',
    observed_seconds Float64 COMMENT 'of them, with a reading of how busy it was',
    busy_seconds Float64,
    idle_seconds Float64 COMMENT 'of the observed, busy for less than 5 %',
    memory_bound_seconds Float64,
    power_capped_seconds Float64,
    watt_seconds Float64 COMMENT 'its part of the device''s power, as it was read'
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
PARTITION BY toYYYYMMDD(hour)
ORDER BY (hour, run, node, device, slice, cluster, task)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'Who held what of each device in each hour, and what was made of it. Read through allocation_hours.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`rolled_allocations` ON CLUSTER `main` AS `sextant`.`rolled_allocations_local`
ENGINE = Distributed(`main`, 'sextant', 'rolled_allocations_local', cityHash64(node));

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`rolled_devices_local` ON CLUSTER `main`
(
    hour DateTime('UTC'),
    run UInt64,
    node LowCardinality(String),
    device String,
    vendor LowCardinality(String),
    kind LowCardinality(String),
    model LowCardinality(String),
    cluster LowCardinality(String),
    node_group LowCardinality(String),
    zone LowCardinality(String),
    rack LowCardinality(String),
    simulated UInt8,
    capacity_seconds Float64 COMMENT 'that the device was there, by inventory and telemetry',
    observed_seconds Float64 COMMENT 'of them, with a reading of how busy it was; the rest is not known and not idle',
    busy_seconds Float64,
    allocated_seconds Float64,
    idle_allocated_seconds Float64 COMMENT 'held, observed, and busy for less than 5 %',
    free_seconds Float64 COMMENT 'observed, and held by nobody',
    stranded_seconds Float64 COMMENT 'free, on a node that is held in part',
    memory_bound_seconds Float64 COMMENT 'memory bandwidth at 60 % or more, and above the matrix and vector units',
    power_capped_seconds Float64 COMMENT 'power over a minute within 2 % of the limit',
    throttled_seconds Float64 COMMENT 'clocks lowered, for any reason',
    memory_used_seconds Float64 COMMENT 'share of memory in use, times s',
    energy_joules Nullable(Float64) COMMENT 'NULL: neither a counter nor power was read',
    energy_from LowCardinality(String) COMMENT 'counter, power or empty',
    watt_seconds Float64 COMMENT 'power as it was read, times s',
    temperature_max Nullable(Float32) COMMENT '°C',
    power_max Nullable(Float32) COMMENT 'W',
    faults UInt64 COMMENT 'XID, AFID and error codes that came',
    errors_corrected UInt64 COMMENT 'of memory',
    errors_uncorrected UInt64,
    unhealthy_seconds Float64 COMMENT 'the exporter says that it is not healthy'
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
PARTITION BY toYYYYMMDD(hour)
ORDER BY (hour, run, node, device)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'What each accelerator did in each hour. Read through device_hours.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`rolled_devices` ON CLUSTER `main` AS `sextant`.`rolled_devices_local`
ENGINE = Distributed(`main`, 'sextant', 'rolled_devices_local', cityHash64(node));

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`rolled_nodes_local` ON CLUSTER `main`
(
    hour DateTime('UTC'),
    run UInt64,
    node LowCardinality(String),
    cluster LowCardinality(String),
    node_group LowCardinality(String),
    zone LowCardinality(String),
    rack LowCardinality(String),
    simulated UInt8,
    cores Float64 COMMENT 'hardware threads',
    memory_bytes Float64,
    capacity_seconds Float64 COMMENT 'that it was there, by the inventory',
    observed_seconds Float64 COMMENT 'with a reading of how busy its CPUs were',
    cpu_busy_seconds Float64 COMMENT 'core seconds',
    cpu_allocated_seconds Float64 COMMENT 'core seconds that tasks bound to it asked for',
    memory_used_seconds Float64 COMMENT 'bytes times s',
    memory_allocated_seconds Float64 COMMENT 'likewise, asked for by tasks'
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
PARTITION BY toYYYYMMDD(hour)
ORDER BY (hour, run, node)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'What the CPUs and the memory of each node did in each hour. Read through node_hours.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`rolled_nodes` ON CLUSTER `main` AS `sextant`.`rolled_nodes_local`
ENGINE = Distributed(`main`, 'sextant', 'rolled_nodes_local', cityHash64(node));

-- Who held what in each slot of the hour that is computed, while it is. Each run has a
-- partition of its own and drops it; what a crash leaves expires.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`rollup_slots_local` ON CLUSTER `main`
(
    run UInt64,
    made DateTime DEFAULT now(),
    node LowCardinality(String),
    device String,
    slice LowCardinality(String),
    slot Int64 COMMENT 'unix time over the interval of device_monitoring',
    cluster LowCardinality(String),
    task String,
    tenant LowCardinality(String),
    queue LowCardinality(String),
    type LowCardinality(String),
    simulated UInt8,
    seconds Float64 COMMENT 'of the slot',
    share Float64 COMMENT 'of the device'
)
ENGINE = MergeTree
PARTITION BY run
ORDER BY (node, device, slot)
TTL made + INTERVAL 1 HOUR
SETTINGS ttl_only_drop_parts = 1
COMMENT 'Who holds what, while an hour is rolled up.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`rollup_slots` ON CLUSTER `main` AS `sextant`.`rollup_slots_local`
ENGINE = Distributed(`main`, 'sextant', 'rollup_slots_local', cityHash64(node));
---- migrations/00027_prices_and_targets.sql
-- +goose NO TRANSACTION
-- +goose Up

-- What things cost, from when on. sextant report prices set writes it, and so may SQL. For
-- each hour the newest price of the item counts that is valid by then, and of those the one that
-- says most: of the model, of the vendor, of all ('').
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`prices_local` ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', set_at)
ORDER BY (item, vendor, model, valid_from)
COMMENT 'Prices of device hours and energy. Read with FINAL.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`prices` ON CLUSTER `main` AS `sextant`.`prices_local`
ENGINE = Distributed(`main`, 'sextant', 'prices_local', cityHash64(item));

-- Which share of promises is to be kept, from when on. Of the targets valid at the end of
-- the time that is asked for, the one that says most counts: tenant and queue, tenant, queue,
-- all (''). Without one it is 99 %.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`slo_targets_local` ON CLUSTER `main`
(
    tenant LowCardinality(String) COMMENT 'empty: any',
    queue LowCardinality(String) COMMENT 'empty: any',
    valid_from DateTime('UTC'),
    target Float64 COMMENT 'share of promises to keep, above 0 and below 1',
    note String,
    set_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', set_at)
ORDER BY (tenant, queue, valid_from)
COMMENT 'Objectives for promises to tasks. Read with FINAL.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`slo_targets` ON CLUSTER `main` AS `sextant`.`slo_targets_local`
ENGINE = Distributed(`main`, 'sextant', 'slo_targets_local', cityHash64(tenant));
---- migrations/00028_sample_panes.sql
-- +goose NO TRANSACTION
-- +goose Up

-- What range functions need to know of 5 minutes or an hour of a series: windows longer than the
-- stream's memory are made of panes, and of samples at their ends. Only series that some feature
-- reads over such a window have panes. A pane is computed whole, from the samples that came in
-- time; computed again it replaces itself. Their order is that of time, since a window reads all
-- series of a few stretches.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`sample_panes_local` ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', made)
PARTITION BY toYYYYMMDD(pane)
ORDER BY (length, pane, series)
TTL toDateTime(made) + INTERVAL 40 DAY
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'Stretches of the series that features read over long windows. Read with FINAL.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`sample_panes` ON CLUSTER `main` AS `sextant`.`sample_panes_local`
ENGINE = Distributed(`main`, 'sextant', 'sample_panes_local', bitShiftRight(series, 48));

-- Which panes there are. A row is written after the panes, and goes before they do.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS `sextant`.`pane_fills_local` ON CLUSTER `main`
(
    selector String COMMENT 'matchers of PromQL, sorted: the series that have the pane',
    length UInt32 COMMENT 's',
    pane DateTime('UTC') COMMENT 'its start' CODEC(Delta, ZSTD(1)),
    made DateTime64(3, 'UTC') COMMENT 'when its computation began' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', made)
PARTITION BY toYYYYMM(pane)
ORDER BY (selector, length, pane)
TTL toDateTime(made) + INTERVAL 35 DAY
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'Which panes are in sample_panes. Read with FINAL.';
-- +goose StatementEnd

CREATE TABLE IF NOT EXISTS `sextant`.`pane_fills` ON CLUSTER `main` AS `sextant`.`pane_fills_local`
ENGINE = Distributed(`main`, 'sextant', 'pane_fills_local', cityHash64(selector));
---- migrations/00030_baseline_exact.sql
-- +goose NO TRANSACTION
-- +goose Up

-- Baselines of few values tell those that are new from those that they had.
-- +goose StatementBegin
ALTER TABLE `sextant`.`feature_baselines_local` ON CLUSTER `main` ADD COLUMN IF NOT EXISTS exact UInt8 COMMENT '1: edges are buckets with a bin each, and the bin behind them is for all others' AFTER expected;
-- +goose StatementEnd

-- +goose StatementBegin
ALTER TABLE `sextant`.feature_baselines ON CLUSTER `main` ADD COLUMN IF NOT EXISTS exact UInt8 COMMENT '1: edges are buckets with a bin each, and the bin behind them is for all others' AFTER expected;
-- +goose StatementEnd
---- migrations/00031_no_statistics.sql
-- +goose NO TRANSACTION
-- +goose Up

-- The server would keep statistics of every column for the planning of joins. No query
-- here is planned by them, and of the insert of a sample they are a fifth.
-- +goose StatementBegin
ALTER TABLE `sextant`.`samples_local` ON CLUSTER `main` MODIFY SETTING auto_statistics_types = '';
-- +goose StatementEnd
---- features/corrected.sql
-- Late samples are few, and so are the rows that they changed: the set of them is small.
CREATE OR REPLACE VIEW `sextant`.`node_test_corrected` ON CLUSTER `main` AS
SELECT `node`, `tick`, `known`, `flags`, `origin`, `busy` FROM `sextant`.`features_node_test_v1_corrected` FINAL
UNION ALL
SELECT `node`, `tick`, `known`, `flags`, `origin`, `busy` FROM `sextant`.`features_node_test_v1` FINAL
WHERE (`node`, tick) GLOBAL NOT IN (SELECT `node`, tick FROM `sextant`.`features_node_test_v1_corrected`)
COMMENT 'As corrected by late samples; what was known in time is node_test. Features of a node every 10s: it\'s a "test" \\ view'
---- features/table.sql
CREATE TABLE IF NOT EXISTS `sextant`.`features_node_test_v1_local` ON CLUSTER `main`
(
    `node` LowCardinality(String) COMMENT 'join key',
    tick DateTime64(3, 'UTC') COMMENT 'the row describes the time before it' CODEC(Delta, ZSTD(1)),
    known DateTime64(3, 'UTC') COMMENT 'earliest time at which the row could be known' CODEC(Delta, ZSTD(1)),
    flags UInt16 COMMENT 'bits of what was wrong with the samples of the row''s entity since its last tick: docs/quality.md' CODEC(ZSTD(1)),
    origin Enum8('live' = 0, 'backfill' = 1, 'repair' = 2) DEFAULT 'live' COMMENT 'what computed the row: the stream at the tick, or stored samples later' CODEC(ZSTD(1)),
    `busy` Nullable(Float32) COMMENT 'ratio: busy share' CODEC(Delta, ZSTD(1)),
    `load` Nullable(Float64) COMMENT '' CODEC(Delta, ZSTD(1)),
    `cores` Nullable(Int64) COMMENT 'cores' CODEC(Delta, ZSTD(1)),
    `up` Nullable(Bool) COMMENT '',
    `kernel` LowCardinality(Nullable(String)) COMMENT ''
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', known)
PARTITION BY toYYYYMMDD(tick)
ORDER BY (`node`, tick)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1, auto_statistics_types = '', min_bytes_for_wide_part = 134217728
COMMENT 'Features of a node every 10s: it\'s a "test" \\ view'
---- features/view.sql
CREATE OR REPLACE VIEW `sextant`.`node_test` ON CLUSTER `main` AS
SELECT * FROM `sextant`.`features_node_test_v1` FINAL
COMMENT 'Features of a node every 10s: it\'s a "test" \\ view'
---- views/accelerators.sql
-- The newest readings of each accelerator, over all vendors with one meaning: busy as a
-- ratio of 0 to 1, memory in bytes, power in watts, temperature in degrees Celsius. A
-- reading that is older than a minute, or that the vendor does not give, is NULL. Rows are
-- of whole devices; a slice (MIG, vNPU, partition) has a row of its own with its name in
-- slice. A device whose memory is only told of its slices has their sum. owners are those
-- that the row is given to, a list because devices are shared; what they use is not in it.
CREATE OR REPLACE VIEW `sextant`.accelerators ON CLUSTER `main` AS
SELECT
    node, vendor, device, slice, busy_ratio,
    if(slice = '', ifNull(used, sumOrNullIf(used, slice != '' AND position(slice, '/') = 0) OVER whole), used) AS mem_used_bytes,
    if(slice = '', ifNull(total, sumOrNullIf(total, slice != '' AND position(slice, '/') = 0) OVER whole), total) AS mem_total_bytes,
    power_watts, temp_celsius, owners, newest, simulated
FROM
(
    SELECT
        n.node AS node,
        n.labels['vendor'] AS vendor,
        n.labels['device'] AS device,
        n.labels['slice'] AS slice,
        argMaxOrNullIf(s.value, s.ts, n.name = 'accel_busy_ratio') AS busy_ratio,
        argMaxOrNullIf(s.value, s.ts, n.name = 'accel_mem_used_bytes') AS used,
        argMaxOrNullIf(s.value, s.ts, n.name = 'accel_mem_total_bytes') AS total,
        argMaxOrNullIf(s.value, s.ts, n.name = 'accel_power_watts') AS power_watts,
        argMaxOrNullIf(s.value, s.ts, n.name = 'accel_temp_celsius' AND n.labels['sensor'] = 'core') AS temp_celsius,
        arraySort(groupUniqArrayIf(arrayStringConcat(arrayFilter(x -> x != '', [n.labels['namespace'], n.labels['pod'], n.labels['container'], n.labels['hpc_job'], n.labels['job_id']]), '/'),
            n.name = 'accel_owner_info')) AS owners,
        max(s.ts) AS newest,
        n.labels['simulated'] = 'true' AS simulated
    FROM `sextant`.samples AS s FINAL
    INNER JOIN `sextant`.series AS n FINAL ON n.id = s.series
    WHERE s.ts > now64(3) - INTERVAL 1 MINUTE
        AND s.series IN (SELECT id FROM `sextant`.series WHERE name LIKE 'accel\\_%')
        AND NOT isNaN(s.value) AND bitAnd(s.flags, 24) = 0
    GROUP BY node, vendor, device, slice, simulated
)
WINDOW whole AS (PARTITION BY node, vendor, device)
ORDER BY node, vendor, device, slice
SETTINGS distributed_product_mode = 'local'
---- views/device_hours.sql
-- What each accelerator did in each hour, in hours of the device: there (capacity), with a
-- reading (observed), without one (unknown, which is not idle), busy (used), held by tasks
-- (allocated), held and idle (busy for less than 5 %), free, and free beside held ones on
-- its node (stranded). It reads tables rolled_*, and no samples.
CREATE OR REPLACE VIEW `sextant`.device_hours ON CLUSTER `main` AS
SELECT
    hour, cluster, node, node_group, zone, rack, vendor, kind, model, device, simulated,
    capacity_seconds / 3600 AS capacity_hours, observed_seconds / 3600 AS observed_hours, greatest(capacity_seconds - observed_seconds, 0) / 3600 AS unknown_hours,
    busy_seconds / 3600 AS used_hours, allocated_seconds / 3600 AS allocated_hours, idle_allocated_seconds / 3600 AS idle_allocated_hours,
    free_seconds / 3600 AS free_hours, stranded_seconds / 3600 AS stranded_hours, memory_bound_seconds / 3600 AS memory_bound_hours, power_capped_seconds / 3600 AS power_capped_hours,
    throttled_seconds / 3600 AS throttled_hours, memory_used_seconds / 3600 AS memory_used_hours,
    energy_joules / 3.6e6 AS energy_kwh, energy_from, temperature_max AS temperature_max_celsius, power_max AS power_max_watts,
    faults, errors_corrected, errors_uncorrected, unhealthy_seconds / 3600 AS unhealthy_hours
FROM `sextant`.rolled_devices
WHERE (hour, run) GLOBAL IN (SELECT hour, max(run) FROM `sextant`.`rolled_hours` GROUP BY hour)
---- views/devices.sql
-- The accelerators of each node, as its newest inventory has them.
CREATE OR REPLACE VIEW `sextant`.devices ON CLUSTER `main` AS
SELECT
    p.node AS node, p.id AS id, p.uid AS uid, p.vendor AS vendor, p.kind AS kind, p.model AS model, p.generation AS generation,
    p.compute_capability AS compute_capability, p.bytes AS memory_bytes, p.firmware AS firmware, p.driver AS driver,
    p.driver_version AS driver_version, p.pci AS pci, p.pci_id AS pci_id, p.numa AS numa, p.link_gigatransfers AS link_gigatransfers,
    p.link_width AS link_width, p.link_max_width AS link_max_width, p.link_bandwidth AS link_bandwidth, p.partition AS partition,
    p.slice_ids AS slice_ids, p.slice_kinds AS slice_kinds, p.slice_profiles AS slice_profiles,
    p.slice_bytes AS slice_bytes, p.slice_cores AS slice_cores, p.mig AS mig, p.sharing AS sharing, nullIf(p.replicas, 0) AS replicas,
    p.power_limit_watts AS power_limit_watts, n.simulation AS simulated, p.since AS since
FROM `sextant`.inventory_parts AS p FINAL
INNER JOIN
(
    SELECT node, argMax(since, ingest) AS newest, argMax(removed, ingest) AS gone, argMax(simulated, ingest) AS simulation
    FROM `sextant`.inventories
    GROUP BY node
) AS n ON n.node = p.node AND n.newest = p.since
WHERE n.gone = 0 AND p.part = 'accelerator'
ORDER BY node, pci, id
SETTINGS distributed_product_mode = 'local'
---- views/devices_at.sql
-- The accelerators of each node with what reports group by, by the inventories that had begun
-- by known: devices_at(known = …). device is the id that the labels of its series have.
-- node_group is the label of that name, or the node pool of a cloud; cluster is the label of
-- that name.
CREATE OR REPLACE VIEW `sextant`.devices_at ON CLUSTER `main` AS
SELECT
    p.node AS node, if(p.uid = '', concat('pci:', p.id), p.uid) AS device, p.pci AS pci, p.vendor AS vendor, p.kind AS kind, p.model AS model,
    if(n.cluster = '', 'default', n.cluster) AS cluster, n.node_group AS node_group, n.zone AS zone, n.rack AS rack, n.simulation AS simulated,
    n.first AS first, toFloat64(ifNull(p.bytes, 0)) AS memory_bytes,
    p.slice_ids AS slice_ids, p.slice_kinds AS slice_kinds, p.slice_bytes AS slice_bytes, p.slice_cores AS slice_cores
FROM `sextant`.inventory_parts AS p FINAL
INNER JOIN
(
    SELECT
        i.node AS node, argMax(i.since, i.since) AS newest, min(i.since) AS first, argMax(i.removed, i.since) AS gone, argMax(i.simulated, i.since) AS simulation,
        argMax(i.zone, i.since) AS zone, argMax(i.rack, i.since) AS rack, argMax(i.labels, i.since) AS own, argMax(i.kubernetes_labels, i.since) AS kubernetes,
        if(own['cluster'] != '', own['cluster'], kubernetes['cluster']) AS cluster,
        arrayFirst(x -> x != '', [own['node_group'], kubernetes['node_group'], kubernetes['cloud.google.com/gke-nodepool'], kubernetes['eks.amazonaws.com/nodegroup'],
            kubernetes['kubernetes.azure.com/agentpool'], kubernetes['node.kubernetes.io/instance-type']]) AS node_group
    FROM `sextant`.inventories AS i
    WHERE i.since <= {known:DateTime64(3, 'UTC')}
    GROUP BY node
) AS n ON n.node = p.node AND n.newest = p.since
WHERE n.gone = 0 AND p.part = 'accelerator'
SETTINGS distributed_product_mode = 'local'
---- views/error_budgets.sql
-- How many promises of each kind were kept between two times, against the share that is to be
-- kept (slo_targets, 99 % without one): error_budgets(from = …, to = …). The budget is how many
-- may be broken; budget_left_ratio is what is left of it, below 0 when it is overdrawn. A burn
-- rate of 1 uses up the budget just when the time is over; burn_1h and burn_6h are of the last
-- hours before its end.
CREATE OR REPLACE VIEW `sextant`.error_budgets ON CLUSTER `main` AS
SELECT
    n.cluster AS cluster, n.tenant AS tenant, n.queue AS queue, n.simulated AS simulated, n.promise AS promise,
    n.kept + n.broken AS decided, n.broken AS broken, ifNull(t.target, 0.99) AS target_ratio,
    n.kept / nullIf(n.kept + n.broken, 0) AS kept_ratio,
    decided * (1 - target_ratio) AS budget,
    1 - n.broken / nullIf(budget, 0) AS budget_left_ratio,
    n.broken / nullIf(decided, 0) / (1 - target_ratio) AS burn_rate,
    n.broken_1h / nullIf(n.decided_1h, 0) / (1 - target_ratio) AS burn_1h,
    n.broken_6h / nullIf(n.decided_6h, 0) / (1 - target_ratio) AS burn_6h
FROM
(
    SELECT
        if(cluster = '', 'default', cluster) AS cluster, tenant, queue, simulated, p.1 AS promise,
        sum(p.2) AS kept, sum(p.3) AS broken,
        sumIf(p.3, hour >= {to:DateTime64(3, 'UTC')} - INTERVAL 1 HOUR) AS broken_1h, sumIf(p.2 + p.3, hour >= {to:DateTime64(3, 'UTC')} - INTERVAL 1 HOUR) AS decided_1h,
        sumIf(p.3, hour >= {to:DateTime64(3, 'UTC')} - INTERVAL 6 HOUR) AS broken_6h, sumIf(p.2 + p.3, hour >= {to:DateTime64(3, 'UTC')} - INTERVAL 6 HOUR) AS decided_6h
    FROM `sextant`.rolled_tasks
    ARRAY JOIN [('queue_time', queue_kept, queue_broken), ('deadline', deadline_kept, deadline_broken), ('latency', latency_kept, latency_broken)] AS p
    WHERE hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')} AND counted AND p.2 + p.3 > 0 AND (hour, run) GLOBAL IN (SELECT hour, max(run) FROM `sextant`.`rolled_hours` GROUP BY hour)
    GROUP BY cluster, tenant, queue, simulated, promise
) AS n
LEFT JOIN
(
    SELECT k.tenant AS tenant, k.queue AS queue, argMax(r.target, (r.tenant != '', r.queue != '', r.valid_from)) AS target
    FROM
    (
        SELECT DISTINCT tenant, queue FROM `sextant`.rolled_tasks
        WHERE hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')} AND (hour, run) GLOBAL IN (SELECT hour, max(run) FROM `sextant`.`rolled_hours` GROUP BY hour)
    ) AS k
    CROSS JOIN (SELECT * FROM `sextant`.slo_targets FINAL) AS r
    WHERE r.valid_from < {to:DateTime64(3, 'UTC')} AND (r.tenant = '' OR r.tenant = k.tenant) AND (r.queue = '' OR r.queue = k.queue)
    GROUP BY tenant, queue
) AS t ON t.tenant = n.tenant AND t.queue = n.queue
SETTINGS join_use_nulls = 1
---- views/feature_drift.sql
-- How far the values of each hour are from those of a baseline: the population stability index
-- over the baseline's bins, sum((q - p) * ln(q / p)), with p and q the shares of each bin in the
-- baseline and the hour, and half a row of the one with fewer rows added to both, as a share: so
-- what is spread alike is 0, however many rows there are. docs/feature-quality.md.
CREATE OR REPLACE VIEW `sextant`.feature_drift ON CLUSTER `main` AS
WITH 0.5 / least(arraySum(expected), arraySum(actual)) AS half
SELECT
    baseline,
    view,
    feature,
    hour,
    rows,
    expected,
    arrayPushBack(
        if(exact,
            arrayPushBack(arrayMap(e -> arraySum((x, n) -> if(x = e, n, 0), buckets, counts), edges), arraySum((x, n) -> if(has(edges, x), 0, n), buckets, counts)),
            arrayMap((low, high) -> arraySum((x, n) -> if(x > low AND x <= high, n, 0), buckets, counts), arrayPushFront(edges, toInt16(-32768)), arrayPushBack(edges, toInt16(32766)))),
        nulls) AS actual,
    arraySum(
        (p, q) -> (q - p) * log(q / p),
        arrayMap(n -> (n / arraySum(expected) + half) / (1 + half * length(expected)), expected),
        arrayMap(n -> (n / arraySum(actual) + half) / (1 + half * length(actual)), actual)) AS psi
FROM
(
    SELECT b.baseline AS baseline, p.view AS view, p.feature AS feature, p.hour AS hour, p.rows AS rows, p.nulls AS nulls,
        p.buckets AS buckets, p.counts AS counts, b.edges AS edges, b.expected AS expected, b.exact AS exact
    FROM `sextant`.feature_profiles AS p FINAL
    INNER JOIN (SELECT * FROM `sextant`.feature_baselines FINAL WHERE removed = 0) AS b ON b.view = p.view AND b.feature = p.feature
)
COMMENT 'Population stability index of each feature and hour against each baseline'
---- views/feature_quality.sql
-- What the values of each feature were, hour by hour: docs/feature-quality.md. Quantiles are
-- those of the histogram, within 1.1 % of the value of that rank.
CREATE OR REPLACE VIEW `sextant`.feature_quality ON CLUSTER `main` AS
SELECT
    view,
    feature,
    hour,
    rows,
    entities,
    ticks,
    nulls,
    if(rows = 0, 0, nulls / rows) AS null_ratio,
    outside + refused AS out_of_range,
    if(out_of_range = 0, 0, out_of_range / (rows - nulls + refused)) AS out_of_range_ratio,
    if(nulls = rows, NULL, newest) AS newest_value,
    if(nulls = rows, NULL, dateDiff('millisecond', newest, toDateTime64(hour, 3, 'UTC') + INTERVAL 1 HOUR) / 1000) AS freshness_seconds,
    if(text OR nulls = rows, NULL, lowest) AS min,
    if(text OR nulls = rows, NULL, highest) AS max,
    if(text OR nulls = rows, NULL, total / (rows - nulls)) AS mean,
    least(greatest(multiIf(text OR nulls = rows, NULL, arrayElement(buckets, arrayFirstIndex(c -> c >= 0.05 * arraySum(counts), arrayCumSum(counts))) = 0, 0, sign(arrayElement(buckets, arrayFirstIndex(c -> c >= 0.05 * arraySum(counts), arrayCumSum(counts)))) * exp2((abs(arrayElement(buckets, arrayFirstIndex(c -> c >= 0.05 * arraySum(counts), arrayCumSum(counts)))) - 16001) / 32) * 2 / (1 + exp2(1 / 32))), min), max) AS p05,
    least(greatest(multiIf(text OR nulls = rows, NULL, arrayElement(buckets, arrayFirstIndex(c -> c >= 0.5 * arraySum(counts), arrayCumSum(counts))) = 0, 0, sign(arrayElement(buckets, arrayFirstIndex(c -> c >= 0.5 * arraySum(counts), arrayCumSum(counts)))) * exp2((abs(arrayElement(buckets, arrayFirstIndex(c -> c >= 0.5 * arraySum(counts), arrayCumSum(counts)))) - 16001) / 32) * 2 / (1 + exp2(1 / 32))), min), max) AS p50,
    least(greatest(multiIf(text OR nulls = rows, NULL, arrayElement(buckets, arrayFirstIndex(c -> c >= 0.95 * arraySum(counts), arrayCumSum(counts))) = 0, 0, sign(arrayElement(buckets, arrayFirstIndex(c -> c >= 0.95 * arraySum(counts), arrayCumSum(counts)))) * exp2((abs(arrayElement(buckets, arrayFirstIndex(c -> c >= 0.95 * arraySum(counts), arrayCumSum(counts)))) - 16001) / 32) * 2 / (1 + exp2(1 / 32))), min), max) AS p95,
    least(greatest(multiIf(text OR nulls = rows, NULL, arrayElement(buckets, arrayFirstIndex(c -> c >= 0.99 * arraySum(counts), arrayCumSum(counts))) = 0, 0, sign(arrayElement(buckets, arrayFirstIndex(c -> c >= 0.99 * arraySum(counts), arrayCumSum(counts)))) * exp2((abs(arrayElement(buckets, arrayFirstIndex(c -> c >= 0.99 * arraySum(counts), arrayCumSum(counts)))) - 16001) / 32) * 2 / (1 + exp2(1 / 32))), min), max) AS p99,
    made
FROM `sextant`.feature_profiles FINAL
COMMENT 'Null rate, freshness, range violations and distribution of each feature by hour'
---- views/feature_registry.sql
-- The newest event of each version of a feature view or service.
CREATE OR REPLACE VIEW `sextant`.feature_registry ON CLUSTER `main` AS
SELECT
    kind,
    name,
    version,
    tupleElement(newest, 1) AS event,
    tupleElement(newest, 1) != 'retired' AS active,
    changed,
    tupleElement(newest, 2) AS changed_by,
    tupleElement(newest, 3) AS hash,
    tupleElement(newest, 4) AS definition
FROM
(
    SELECT kind, name, version, max(at) AS changed, argMax((event, who, hash, definition), (at, event)) AS newest
    FROM `sextant`.feature_history
    GROUP BY kind, name, version
)
COMMENT 'Feature views and services as they are in force, or retired'
---- views/feature_skew.sql
-- What was served beside what is stored, hour by hour: docs/feature-quality.md.
CREATE OR REPLACE VIEW `sextant`.feature_skew ON CLUSTER `main` AS
SELECT view, feature, hour, compared, different, corrected, missing, (different + missing) / compared AS skew_ratio, (corrected + missing) / compared AS corrected_ratio, largest, made
FROM `sextant`.feature_skews FINAL
COMMENT 'Served values that differ from the stored ones, by feature and hour'
---- views/freshness.sql
-- Per node: how old the newest of its records is, and where the time went. A scrape waits
-- for Kafka (transport) and then for the store (storage).
CREATE OR REPLACE VIEW `sextant`.freshness ON CLUSTER `main` AS
SELECT
    node,
    max(scrape) AS last_scrape,
    max(ingest) AS last_ingest,
    max(written) AS last_written,
    dateDiff('millisecond', max(scrape), now64(3)) / 1000 AS age_seconds,
    quantile(0.5)(dateDiff('millisecond', scrape, ingest)) / 1000 AS transport_p50_seconds,
    quantile(0.99)(dateDiff('millisecond', scrape, ingest)) / 1000 AS transport_p99_seconds,
    quantile(0.5)(dateDiff('millisecond', ingest, written)) / 1000 AS storage_p50_seconds,
    quantile(0.99)(dateDiff('millisecond', ingest, written)) / 1000 AS storage_p99_seconds
FROM `sextant`.ingest_ledger
WHERE scrape > now64(3) - INTERVAL 1 HOUR
GROUP BY node
ORDER BY node
---- views/ingest_audit.sql
-- Per node and hour: the samples that the ledger says were stored against the samples
-- that a reader finds. The ledger is written last, so a row that it claims must be there.
--
-- expected   samples of the records in the ledger; a record that was sent twice counts once
-- visible    samples as a reader sees them, without those that the pipeline made of its own:
--            the series sample_flag
-- lost       expected and not visible: must be 0
-- duplicate  visible beyond what the ledger accounts for: must be 0. For the second
--            between the insert of samples and the insert of their ledger rows they stand
--            here.
--
-- A record belongs to the hour of its scrape, a sample to the hour of its event time. They
-- are the same unless an exporter brings its own timestamps; its samples then move between
-- two neighbouring hours when they were taken across the border. An hour of which samples
-- or ledger rows may have expired has no row.
CREATE OR REPLACE VIEW `sextant`.ingest_audit ON CLUSTER `main` AS
WITH
    said AS
    (
        SELECT node, toStartOfHour(scrape) AS hour, count() AS records, sum(rows) AS expected
        FROM
        (
            SELECT agent, seq, any(node) AS node, any(scrape) AS scrape, max(rows) AS rows
            FROM `sextant`.ingest_ledger AS l FINAL
            WHERE l.scrape >= toStartOfHour(now('UTC') - INTERVAL 30 DAY) + INTERVAL 1 HOUR
            GROUP BY agent, seq
        )
        GROUP BY node, hour
    ),
    found AS
    (
        SELECT n.node AS node, s.hour AS hour, sum(s.visible) AS visible
        FROM
        (
            SELECT series, toStartOfHour(ts) AS hour, count() AS visible
            FROM `sextant`.samples FINAL
            WHERE ts >= toStartOfHour(now('UTC') - INTERVAL 30 DAY) + INTERVAL 1 HOUR AND series NOT IN (SELECT id FROM `sextant`.series WHERE name = 'sample_flag')
            GROUP BY series, hour
        ) AS s
        LEFT JOIN (SELECT id, anyLast(node) AS node FROM `sextant`.series GROUP BY id) AS n ON n.id = s.series
        GROUP BY node, hour
    )
SELECT
    if(said.records > 0, said.node, found.node) AS node,
    if(said.records > 0, said.hour, found.hour) AS time,
    said.records AS records,
    said.expected AS expected,
    found.visible AS visible,
    if(expected > visible, expected - visible, 0) AS lost,
    if(visible > expected, visible - expected, 0) AS duplicate
FROM said
FULL OUTER JOIN found ON said.node = found.node AND said.hour = found.hour
ORDER BY node, time
---- views/inventory_changes.sql
-- What changed on which node, and when: one row per fact that another row of the node's
-- history had otherwise. An agent that only started again changed nothing.
CREATE OR REPLACE VIEW `sextant`.inventory_changes ON CLUSTER `main` AS
SELECT node, time, fact, old[fact] AS before, facts[fact] AS after
FROM
(
    SELECT
        node, since AS time, facts,
        lagInFrame(facts) OVER w AS old,
        row_number() OVER w AS place
    FROM `sextant`.inventories FINAL
    WHERE removed = 0
    WINDOW w AS (PARTITION BY node ORDER BY since ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
)
ARRAY JOIN arrayFilter(k -> facts[k] != old[k], arrayDistinct(arrayConcat(mapKeys(facts), mapKeys(old)))) AS fact
WHERE place > 1
ORDER BY node, time, fact
---- views/kubernetes_nodes.sql
-- What Kubernetes says of each node that it has: the newest record of each.
CREATE OR REPLACE VIEW `sextant`.kubernetes_nodes ON CLUSTER `main` AS
SELECT * EXCEPT (removed, document), NOT unschedulable AS schedulable
FROM
(
    SELECT * FROM `sextant`.node_records ORDER BY ingest DESC, since DESC LIMIT 1 BY cluster, node
)
WHERE removed = 0
ORDER BY cluster, node
---- views/kubernetes_nodes_at.sql
-- What Kubernetes had said of each node by known: kubernetes_nodes_at(known = …). Nodes that
-- were deleted by then have no row. Of two clusters with one node name the newer counts.
CREATE OR REPLACE VIEW `sextant`.kubernetes_nodes_at ON CLUSTER `main` AS
SELECT * EXCEPT (removed)
FROM
(
    SELECT
        r.node AS node,
        max(r.since) AS since,
        argMax(r.cluster, (r.since, r.cluster)) AS cluster,
        argMax(tuple(r.created), (r.since, r.cluster)).1 AS created,
        argMax(r.zone, (r.since, r.cluster)) AS zone,
        argMax(r.rack, (r.since, r.cluster)) AS rack,
        argMax(r.ready, (r.since, r.cluster)) AS ready,
        argMax(tuple(r.ready_since), (r.since, r.cluster)).1 AS ready_since,
        argMax(r.trouble, (r.since, r.cluster)) AS trouble,
        argMax(r.unschedulable, (r.since, r.cluster)) AS unschedulable,
        argMax(r.taints, (r.since, r.cluster)) AS taints,
        argMax(r.capacity_amounts, (r.since, r.cluster)) AS capacity_amounts,
        argMax(r.allocatable_amounts, (r.since, r.cluster)) AS allocatable_amounts,
        argMax(r.removed, (r.since, r.cluster)) AS removed
    FROM `sextant`.node_records AS r
    WHERE r.since <= {known:DateTime64(3, 'UTC')}
    GROUP BY node
)
WHERE removed = 0
---- views/ledger.sql
-- Per agent: which records came, and what became of those that did not. The numbers of an
-- agent's records are dense from 1, and every number below the newest "oldest" has either
-- reached Kafka or is counted in "dropped". So below it a gap is a loss; from it on a gap
-- is a record that the agent still holds (after an outage fresh records go first).
--
-- missing  numbers below oldest that the ledger lacks
-- dropped  records that the agent says it gave up: past its disk cap, or too large to send
-- lost     missing and not declared: must be 0. Exact when pending is 0; until then a
--          record that was given up while older ones wait may hide one loss.
-- pending  numbers from oldest to last that the ledger lacks
-- resent   records that reached Kafka more than once; they are stored once
--
-- When the ledger's oldest rows have expired, an agent that is older counts from its
-- first row that is left.
CREATE OR REPLACE VIEW `sextant`.ledger ON CLUSTER `main` AS
WITH
    newest AS
    (
        SELECT agent, max(oldest) AS oldest
        FROM `sextant`.ingest_ledger
        GROUP BY agent
    ),
    started AS
    (
        SELECT agent, min(first_seq) AS first_seq
        FROM `sextant`.agents
        GROUP BY agent
    ),
    records AS -- by number; the order of the table lets them stream
    (
        SELECT agent, seq, any(node) AS node, count() AS copies, max(dropped) AS dropped_after, min(dropped) AS dropped_before, max(scrape) AS scrape
        FROM `sextant`.ingest_ledger FINAL
        GROUP BY agent, seq
        SETTINGS optimize_aggregation_in_order = 1
    ),
    counted AS
    (
        SELECT
            r.agent AS agent,
            any(r.node) AS node,
            min(r.seq) AS first,
            max(r.seq) AS last,
            count() AS received,
            sum(r.copies) - count() AS resent,
            max(n.oldest) AS oldest,
            max(r.scrape) AS last_scrape,
            countIf(r.seq < n.oldest) AS received_below,
            -- An agent whose very first row is still here counts from number 1.
            if(first <= any(s.first_seq), toUInt64(1), first) AS base,
            max(r.dropped_after) - if(base = 1, toUInt64(0), min(r.dropped_before)) AS dropped
        FROM records AS r
        INNER JOIN newest AS n ON n.agent = r.agent
        INNER JOIN started AS s ON s.agent = r.agent
        GROUP BY r.agent
    )
SELECT
    agent, node, first, last, received,
    toUInt64(greatest(toInt64(oldest) - toInt64(base), 0) - toInt64(received_below)) AS missing,
    toUInt64(counted.dropped) AS dropped,
    toUInt64(greatest(toInt64(missing) - toInt64(dropped), 0)) AS lost,
    toUInt64(greatest(toInt64(last) - toInt64(greatest(oldest, base)) + 1 - toInt64(received - received_below), 0)) AS pending,
    resent, oldest, last_scrape
FROM counted
ORDER BY node, agent
---- views/line_health.sql
-- How sound the data of each node is now: its records by the ledger, where lost must be 0, how
-- long ago it was heard, and how long samples take to be stored, over the last hour.
CREATE OR REPLACE VIEW `sextant`.line_health ON CLUSTER `main` AS
SELECT
    l.node AS node, l.received AS records, l.lost AS lost, l.dropped AS dropped, l.pending AS pending, l.resent AS resent,
    dateDiff('millisecond', l.last_scrape, now64(3)) / 1000 AS age_seconds, f.transport_p99_seconds AS transport_p99_seconds, f.storage_p99_seconds AS storage_p99_seconds
FROM
(
    SELECT node, sum(received) AS received, sum(lost) AS lost, sum(dropped) AS dropped, sum(pending) AS pending, sum(resent) AS resent, max(last_scrape) AS last_scrape
    FROM `sextant`.ledger
    GROUP BY node
) AS l
LEFT JOIN `sextant`.freshness AS f ON f.node = l.node
SETTINGS join_use_nulls = 1
---- views/links.sql
-- How the parts of each node hang together, as its newest inventory has it. Nodes of one
-- rack, zone or switch meet at that place: join the view with itself on to_id for pairs.
CREATE OR REPLACE VIEW `sextant`.links ON CLUSTER `main` AS
SELECT
    l.node AS node, l.from_part AS from_part, l.from_id AS from_id, l.to_part AS to_part, l.to_id AS to_id, l.kind AS kind,
    l.bandwidth AS bandwidth, l.latency AS latency, l.distance AS distance, l.hops AS hops, l.count AS count, l.degraded AS degraded,
    l.origin AS origin, l.features AS features, n.simulation AS simulated, l.since AS since
FROM `sextant`.inventory_links AS l FINAL
INNER JOIN
(
    SELECT node, argMax(since, ingest) AS newest, argMax(removed, ingest) AS gone, argMax(simulated, ingest) AS simulation
    FROM `sextant`.inventories
    GROUP BY node
) AS n ON n.node = l.node AND n.newest = l.since
WHERE n.gone = 0
ORDER BY node, from_part, from_id, to_part, to_id
SETTINGS distributed_product_mode = 'local'
---- views/nics.sql
-- The network ports of each node, DPUs among them, as its newest inventory has them.
CREATE OR REPLACE VIEW `sextant`.nics ON CLUSTER `main` AS
SELECT
    p.node AS node, p.id AS id, p.name AS name, p.kind AS kind, p.model AS model, p.dpu AS dpu, p.speed AS speed, p.up AS up,
    p.rdma AS rdma, p.firmware AS firmware, p.driver AS driver, p.driver_version AS driver_version, p.pci AS pci, p.pci_id AS pci_id,
    p.numa AS numa, p.link_bandwidth AS link_bandwidth, n.simulation AS simulated, p.since AS since
FROM `sextant`.inventory_parts AS p FINAL
INNER JOIN
(
    SELECT node, argMax(since, ingest) AS newest, argMax(removed, ingest) AS gone, argMax(simulated, ingest) AS simulation
    FROM `sextant`.inventories
    GROUP BY node
) AS n ON n.node = p.node AND n.newest = p.since
WHERE n.gone = 0 AND p.part = 'nic'
ORDER BY node, id
SETTINGS distributed_product_mode = 'local'
---- views/node_hours.sql
-- What the CPUs and the memory of each node did in each hour: core hours that are there, with a
-- reading, busy and asked for by the tasks that were bound to the node; memory in GiB hours.
CREATE OR REPLACE VIEW `sextant`.node_hours ON CLUSTER `main` AS
SELECT
    hour, cluster, node, node_group, zone, rack, simulated,
    cores * capacity_seconds / 3600 AS core_hours, cores * observed_seconds / 3600 AS observed_core_hours, cpu_busy_seconds / 3600 AS used_core_hours,
    cpu_allocated_seconds / 3600 AS allocated_core_hours, memory_bytes / 1073741824 * capacity_seconds / 3600 AS gib_hours, memory_bytes / 1073741824 * observed_seconds / 3600 AS observed_gib_hours,
    memory_used_seconds / 1073741824 / 3600 AS used_gib_hours, memory_allocated_seconds / 1073741824 / 3600 AS allocated_gib_hours
FROM `sextant`.rolled_nodes
WHERE (hour, run) GLOBAL IN (SELECT hour, max(run) FROM `sextant`.`rolled_hours` GROUP BY hour)
---- views/nodes.sql
-- Each node as its agent and Kubernetes have it, newest: hardware is the agent's word, what
-- may run there is Kubernetes'. A node that only one of them knows has the columns of the
-- other empty; agent and kubernetes say who knows it. labels are the agent's own.
CREATE OR REPLACE VIEW `sextant`.nodes ON CLUSTER `main` AS
SELECT
    if(i.node != '', i.node, k.node) AS node,
    if(i.node != '', i.since, k.since) AS since,
    if(i.node != '', i.collected, k.collected) AS collected,
    i.simulated AS simulated,
    i.hash AS hash,
    if(i.node != '', i.arch, transform(k.arch, ['amd64', 'arm64'], ['x86_64', 'aarch64'], k.arch)) AS arch,
    if(i.kernel != '', i.kernel, k.kernel) AS kernel,
    i.os AS os,
    i.os_version AS os_version,
    if(i.boot_id != '', i.boot_id, k.boot_id) AS boot_id,
    i.vendor AS vendor,
    i.product AS product,
    i.hypervisor AS hypervisor,
    i.cpu_model AS cpu_model,
    i.sockets AS sockets,
    i.cores AS cores,
    i.threads AS threads,
    i.memory_bytes AS memory_bytes,
    i.numa_nodes AS numa_nodes,
    i.accelerators AS accelerators,
    i.nics AS nics,
    if(i.region != '', i.region, k.region) AS region,
    if(i.zone != '', i.zone, k.zone) AS zone,
    if(i.rack != '', i.rack, k.rack) AS rack,
    i.switch AS switch,
    if(kubernetes, k.unschedulable, i.cordoned) AS cordoned,
    i.labels AS labels,
    if(kubernetes, k.labels, i.kubernetes_labels) AS kubernetes_labels,
    if(kubernetes, k.taints, i.taints) AS taints,
    if(kubernetes, k.allocatable, i.allocatable) AS allocatable,
    i.faults AS faults,
    toUInt8(i.node != '') AS agent,
    toUInt8(k.node != '') AS kubernetes,
    k.cluster AS cluster,
    if(kubernetes, toNullable(k.since), NULL) AS kubernetes_since,
    if(kubernetes, toNullable(k.ready), NULL) AS ready,
    k.ready_since AS ready_since,
    if(kubernetes, toNullable(k.schedulable), NULL) AS schedulable,
    k.trouble AS trouble,
    k.created AS created,
    k.provider_id AS provider_id,
    k.annotations AS annotations,
    k.capacity AS capacity,
    k.capacity_amounts AS capacity_amounts,
    k.allocatable_amounts AS allocatable_amounts,
    k.addresses AS addresses,
    k.kubelet AS kubelet,
    k.runtime AS runtime,
    k.os_image AS os_image
FROM
(
    SELECT * FROM
    (
        SELECT * FROM `sextant`.inventories ORDER BY ingest DESC, since DESC LIMIT 1 BY node
    )
    WHERE removed = 0
) AS i
FULL OUTER JOIN
(
    SELECT * FROM `sextant`.kubernetes_nodes ORDER BY ingest DESC, cluster LIMIT 1 BY node
) AS k ON k.node = i.node
ORDER BY node
---- views/nodes_at.sql
-- What each node was made of, by the inventories that had begun by known, and what Kubernetes
-- had said of it: nodes_at(known = …). It has the nodes that agents told of; those that were gone
-- by then have no row. What Kubernetes alone knows is in kubernetes_nodes_at.
CREATE OR REPLACE VIEW `sextant`.nodes_at ON CLUSTER `main` AS
SELECT
    i.node AS node,
    if(i.zone != '', i.zone, k.zone) AS zone,
    if(i.rack != '', i.rack, k.rack) AS rack,
    i.threads AS threads,
    i.memory_bytes AS memory_bytes,
    i.accelerators AS accelerators,
    if(k.node != '', k.unschedulable, i.cordoned) AS cordoned,
    k.cluster AS cluster,
    if(k.node != '', toNullable(k.ready), NULL) AS ready,
    k.trouble AS trouble,
    k.taints AS taints,
    k.capacity_amounts AS capacity_amounts,
    k.allocatable_amounts AS allocatable_amounts
FROM
(
    SELECT
        i.node AS node,
        argMax(i.zone, i.since) AS zone,
        argMax(i.rack, i.since) AS rack,
        argMax(tuple(i.threads), i.since).1 AS threads,
        argMax(tuple(i.memory_bytes), i.since).1 AS memory_bytes,
        argMax(i.accelerators, i.since) AS accelerators,
        argMax(i.cordoned, i.since) AS cordoned,
        argMax(i.removed, i.since) AS removed
    FROM `sextant`.inventories AS i
    WHERE i.since <= {known:DateTime64(3, 'UTC')}
    GROUP BY node
) AS i
LEFT JOIN `sextant`.kubernetes_nodes_at(known = {known:DateTime64(3, 'UTC')}) AS k ON k.node = i.node
WHERE i.removed = 0
---- views/quality.sql
-- What was wrong over the last day, and is: per node, and per metric (of a device) or
-- target, the time of the first and the last scrape at which a flag was in force, the
-- number of such scrapes, and whether it still is. docs/quality.md says what each means.
CREATE OR REPLACE VIEW `sextant`.quality ON CLUSTER `main` AS
SELECT
    n.node AS node,
    n.labels['uid'] AS uid,
    n.labels['metric'] AS metric,
    n.labels['target'] AS target,
    n.labels['flag'] AS flag,
    minIf(s.ts, NOT isNaN(s.value)) AS first,
    maxIf(s.ts, NOT isNaN(s.value)) AS last,
    countIf(NOT isNaN(s.value)) AS scrapes,
    NOT isNaN(argMax(s.value, s.ts)) AND max(s.ts) > now64(3) - INTERVAL 1 MINUTE AS in_force
FROM `sextant`.samples AS s FINAL
INNER JOIN `sextant`.series AS n FINAL ON n.id = s.series
WHERE s.ts > now64(3) - INTERVAL 1 DAY
    AND s.series IN (SELECT id FROM `sextant`.series WHERE name = 'sample_flag')
GROUP BY node, uid, metric, target, flag
HAVING scrapes > 0
ORDER BY node, uid, metric, target, flag
SETTINGS distributed_product_mode = 'local'
---- views/regressions.sql
-- What became worse within a week: regressions(to = …) has each figure over the 7 days before
-- and over the 7 days before those. change_ratio is the change over the earlier figure, positive
-- where it is worse. Figures of fewer than 5 tasks, or less than an hour of devices, are left out.
CREATE OR REPLACE VIEW `sextant`.regressions ON CLUSTER `main` AS
WITH
    toStartOfHour({to:DateTime64(3, 'UTC')}) AS ending,
    devices AS
    (
        SELECT cluster, vendor, model, node, simulated, hour >= ending - INTERVAL 7 DAY AS recent, observed_seconds AS observed, busy_seconds AS busy, allocated_seconds AS held,
            idle_allocated_seconds AS idle, throttled_seconds AS throttled, faults, errors_uncorrected AS errors, capacity_seconds AS capacity
        FROM `sextant`.rolled_devices
        WHERE hour >= toStartOfHour({to:DateTime64(3, 'UTC')}) - INTERVAL 14 DAY AND hour < {to:DateTime64(3, 'UTC')} AND (hour, run) GLOBAL IN (SELECT hour, max(run) FROM `sextant`.`rolled_hours` GROUP BY hour)
    ),
    jobs AS
    (
        SELECT if(cluster = '', 'default', cluster) AS cluster, tenant, queue, type, simulated, hour >= ending - INTERVAL 7 DAY AS recent, placed, ended, state, evictions,
            queue_seconds, run_seconds, queue_broken + deadline_broken + latency_broken AS broken, queue_kept + deadline_kept + latency_kept AS kept
        FROM `sextant`.rolled_tasks
        WHERE hour >= toStartOfHour({to:DateTime64(3, 'UTC')}) - INTERVAL 14 DAY AND hour < {to:DateTime64(3, 'UTC')} AND counted AND (hour, run) GLOBAL IN (SELECT hour, max(run) FROM `sextant`.`rolled_hours` GROUP BY hour)
    )
SELECT
    figure, unit, dimension, value, simulated, anyIf(v, NOT recent) AS before, anyIf(v, recent) AS after,
    (after - before) / before * if(figure = 'used ratio', -1, 1) AS change_ratio
FROM
(
    SELECT 'used ratio' AS figure, 'ratio' AS unit, 'model' AS dimension, toString(model) AS value, simulated, recent, sum(busy) / sum(observed) AS v
    FROM devices GROUP BY model, simulated, recent HAVING sum(observed) >= 3600
    UNION ALL
    SELECT 'idle while held', 'ratio', 'model', toString(model), simulated, recent, sum(idle) / sum(held)
    FROM devices GROUP BY model, simulated, recent HAVING sum(held) >= 3600
    UNION ALL
    SELECT 'throttled', 'ratio', 'model', toString(model), simulated, recent, sum(throttled) / sum(observed)
    FROM devices GROUP BY model, simulated, recent HAVING sum(observed) >= 3600
    UNION ALL
    SELECT 'faults per device day', 'count', 'model', toString(model), simulated, recent, sum(faults) / (sum(capacity) / 86400)
    FROM devices GROUP BY model, simulated, recent HAVING sum(capacity) >= 3600
    UNION ALL
    SELECT 'queue time p95', 's', 'queue', toString(queue), simulated, recent, quantileExactIf(0.95)(assumeNotNull(queue_seconds), placed)
    FROM jobs GROUP BY queue, simulated, recent HAVING countIf(placed) >= 5
    UNION ALL
    SELECT 'run time p50', 's', 'type', toString(type), simulated, recent, quantileExactIf(0.5)(assumeNotNull(run_seconds), ended AND state = 'finished')
    FROM jobs GROUP BY type, simulated, recent HAVING countIf(ended AND state = 'finished') >= 5
    UNION ALL
    SELECT 'failed', 'ratio', 'tenant', toString(tenant), simulated, recent, countIf(ended AND state = 'failed') / countIf(ended)
    FROM jobs GROUP BY tenant, simulated, recent HAVING countIf(ended) >= 5
    UNION ALL
    SELECT 'broken promises', 'ratio', 'tenant', toString(tenant), simulated, recent, sum(broken) / (sum(broken) + sum(kept))
    FROM jobs GROUP BY tenant, simulated, recent HAVING sum(broken) + sum(kept) >= 5
)
GROUP BY figure, unit, dimension, value, simulated
HAVING count() = 2 AND isFinite(change_ratio) AND before > 0
---- views/repairs_pending.sql
-- Hours of nodes whose late samples are in no corrected row yet.
CREATE OR REPLACE VIEW `sextant`.repairs_pending ON CLUSTER `main` AS
SELECT l.node AS node, l.hour AS hour, l.late AS late, r.late AS repaired, r.status AS status, r.at AS tried
FROM (SELECT node, hour, sum(late) AS late FROM `sextant`.late_records FINAL GROUP BY node, hour) AS l
LEFT JOIN (SELECT * FROM `sextant`.repairs FINAL) AS r ON r.node = l.node AND r.hour = l.hour
WHERE l.late != r.late OR r.status = 'failed'
---- views/samples_labelled.sql
-- Samples with the names that they go by. A row that is not usable tells that there is no
-- value, and flags tells why (docs/quality.md). To read fast, name the series too; their ids
-- are the order of the table:
--
--   SELECT ts, value FROM samples_labelled
--   WHERE series IN (SELECT id FROM series WHERE name = 'node_load1' AND node = 'n1')
--     AND ts > now() - INTERVAL 1 HOUR
CREATE OR REPLACE VIEW `sextant`.samples_labelled ON CLUSTER `main` AS
SELECT
    s.series AS series, s.ts AS ts, n.node AS node, n.name AS name, n.labels AS labels,
    s.value AS value, n.unit AS unit, n.kind AS kind, s.flags AS flags,
    reinterpretAsUInt64(s.value) = 0x7ff0000000000002 AS stale,
    bitAnd(s.flags, 24) = 0 AND NOT isNaN(s.value) AS usable
FROM `sextant`.samples AS s FINAL
INNER JOIN `sextant`.series AS n FINAL ON n.id = s.series
SETTINGS distributed_product_mode = 'local'
---- views/sla_violations.sql
-- Promises that were broken, and tasks that failed or were evicted, between two times:
-- sla_violations(from = …, to = …), with how busy the node was. Of a broken promise that is what
-- was seen at the time (sla_events), of a failure or an eviction the mean of its hour.
CREATE OR REPLACE VIEW `sextant`.sla_violations ON CLUSTER `main` AS
WITH
    h AS
    (
        SELECT hour, node, node_group, cpu_busy_seconds / nullIf(cores * observed_seconds, 0) AS cpu, memory_used_seconds / nullIf(memory_bytes * observed_seconds, 0) AS memory
        FROM `sextant`.rolled_nodes
        WHERE hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')} AND (hour, run) GLOBAL IN (SELECT hour, max(run) FROM `sextant`.`rolled_hours` GROUP BY hour)
    ),
    g AS
    (
        SELECT hour, node, sum(busy_seconds) / nullIf(sum(observed_seconds), 0) AS busy
        FROM `sextant`.rolled_devices
        WHERE hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')} AND (hour, run) GLOBAL IN (SELECT hour, max(run) FROM `sextant`.`rolled_hours` GROUP BY hour)
        GROUP BY hour, node
    )
SELECT
    v.time AS time, toStartOfHour(v.time) AS hour, v.cause AS cause, if(v.cluster = '', 'default', v.cluster) AS cluster, v.tenant AS tenant, v.queue AS queue, v.type AS type,
    v.node AS node, h.node_group AS node_group, v.task AS task, v.promised AS promised_seconds, v.measured AS measured_seconds, v.reason AS reason,
    v.queue_length AS queue_length, v.node_tasks AS node_tasks, coalesce(v.cpu, if(v.cause IN ('failed', 'evicted'), h.cpu, NULL)) AS node_cpu_busy_ratio,
    coalesce(v.memory, if(v.cause IN ('failed', 'evicted'), h.memory, NULL)) AS node_memory_used_ratio,
    coalesce(v.busy, if(v.cause IN ('failed', 'evicted'), g.busy, NULL)) AS device_busy_ratio, v.simulated AS simulated
FROM
(
    SELECT breached AS time, toString(kind) AS cause, toString(cluster) AS cluster, task, toString(tenant) AS tenant, toString(queue) AS queue, toString(type) AS type,
        toString(node) AS node, CAST(promised, 'Nullable(Float64)') AS promised, CAST(measured, 'Nullable(Float64)') AS measured, '' AS reason,
        CAST(queue_length, 'Nullable(UInt32)') AS queue_length, CAST(node_tasks, 'Nullable(UInt32)') AS node_tasks, CAST(node_cpu_busy, 'Nullable(Float64)') AS cpu,
        CAST(node_memory_used, 'Nullable(Float64)') AS memory, CAST(device_busy, 'Nullable(Float64)') AS busy, simulated
    FROM `sextant`.sla_events FINAL
    WHERE breached >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND breached < {to:DateTime64(3, 'UTC')}
    UNION ALL
    SELECT e.time, toString(e.state), toString(e.cluster), e.task, toString(t.tenant), toString(t.queue), toString(t.type), toString(if(e.node != '', e.node, t.node)),
        NULL, NULL, e.reason, NULL, NULL, NULL, NULL, NULL, t.simulated
    FROM `sextant`.task_events AS e FINAL
    INNER JOIN
    (
        SELECT * FROM `sextant`.rolled_tasks
        WHERE hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')} AND counted AND (hour, run) GLOBAL IN (SELECT hour, max(run) FROM `sextant`.`rolled_hours` GROUP BY hour)
    ) AS t ON t.cluster = e.cluster AND t.task = e.task AND t.hour = toStartOfHour(e.time)
    WHERE e.time >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND e.time < {to:DateTime64(3, 'UTC')} AND e.state IN ('failed', 'evicted')
) AS v
LEFT JOIN h ON h.hour = toStartOfHour(v.time) AND h.node = v.node
LEFT JOIN g ON g.hour = toStartOfHour(v.time) AND g.node = v.node
SETTINGS join_use_nulls = 1
---- views/slices.sql
-- The slices of each device (MIG instances, vNPUs, partitions, tiles): what they are, who
-- has them, and what is measured of them. The layout is of the newest inventory, readings
-- and owners are of the last minute; a slice that only one of the two knows is here too. A
-- list of owners is what is allocated. The rest is use, and NULL where the source does not
-- measure the slice itself: a reading of the whole device is never a slice's.
CREATE OR REPLACE VIEW `sextant`.slices ON CLUSTER `main` AS
SELECT
    node, vendor, device, slice,
    max(part_kind) AS kind,
    max(part_profile) AS profile,
    nullIf(max(part_bytes), 0) AS memory_bytes,
    nullIf(max(part_cores), 0) AS cores,
    arraySort(groupUniqArrayArray(part_owners)) AS owners,
    max(part_used) AS mem_used_bytes,
    max(part_busy) AS busy_ratio,
    max(part_active) AS engine_active_ratio,
    max(part_newest) AS newest,
    max(part_simulated) AS simulated
FROM
(
    SELECT
        node, vendor, if(uid = '', concat('pci:', id), id) AS device,
        if(startsWith(slice_kind, 'mig'), replaceRegexpAll(slice_id, 'gi|ci', ''), slice_id) AS slice,
        toString(slice_kind) AS part_kind, toString(slice_profile) AS part_profile, toFloat64(slice_size) AS part_bytes, toFloat64(slice_part) AS part_cores,
        CAST([], 'Array(String)') AS part_owners,
        CAST(NULL, 'Nullable(Float64)') AS part_used, CAST(NULL, 'Nullable(Float64)') AS part_busy, CAST(NULL, 'Nullable(Float64)') AS part_active,
        CAST(NULL, 'Nullable(DateTime64(3, \'UTC\'))') AS part_newest, toUInt8(simulated) AS part_simulated
    FROM `sextant`.devices
    ARRAY JOIN slice_ids AS slice_id, slice_kinds AS slice_kind, slice_profiles AS slice_profile,
        arrayResize(slice_bytes, length(slice_ids)) AS slice_size, arrayResize(slice_cores, length(slice_ids)) AS slice_part
    UNION ALL
    SELECT
        n.node, n.labels['vendor'], n.labels['device'], n.labels['slice'],
        '', maxIf(n.labels['profile'], n.name = 'accel_slice_info'),
        ifNull(argMaxOrNullIf(s.value, s.ts, n.name = 'accel_mem_total_bytes'), 0), 0.,
        groupUniqArrayIf(arrayStringConcat(arrayFilter(x -> x != '', [n.labels['namespace'], n.labels['pod'], n.labels['container'], n.labels['hpc_job'], n.labels['job_id']]), '/'), n.name = 'accel_owner_info'),
        argMaxOrNullIf(s.value, s.ts, n.name = 'accel_mem_used_bytes'),
        argMaxOrNullIf(s.value, s.ts, n.name = 'accel_busy_ratio'),
        argMaxOrNullIf(s.value, s.ts, n.name = 'accel_engine_active_ratio'),
        max(s.ts), toUInt8(max(n.labels['simulated'] = 'true'))
    FROM `sextant`.samples AS s FINAL
    INNER JOIN `sextant`.series AS n FINAL ON n.id = s.series
    WHERE s.ts > now64(3) - INTERVAL 1 MINUTE
        AND s.series IN (SELECT id FROM `sextant`.series WHERE name LIKE 'accel\\_%' AND labels['slice'] != '')
        AND NOT isNaN(s.value) AND bitAnd(s.flags, 24) = 0
    GROUP BY n.node, n.labels['vendor'], n.labels['device'], n.labels['slice']
)
GROUP BY node, vendor, device, slice
ORDER BY node, vendor, device, slice
SETTINGS distributed_product_mode = 'local'
---- views/task_hours.sql
-- What each task did in each hour that it lived in: waited, was bound, was placed first, ended;
-- and the promises to it of which it turned out in the hour whether they are kept. queue_seconds
-- is its wait until it was first placed, run_seconds its last run, total_seconds the time from
-- its submission to its end. What stands for others is not in it.
CREATE OR REPLACE VIEW `sextant`.task_hours ON CLUSTER `main` AS
SELECT
    hour, if(cluster = '', 'default', cluster) AS cluster, task, name, namespace, tenant, queue, type, node, state, simulated, cpu_cores, memory_bytes, accelerators,
    wait_seconds / 3600 AS wait_hours, bound_seconds / 3600 AS bound_hours, accelerators * bound_seconds / 3600 AS requested_hours,
    placed, ended, evictions, submitted, queue_seconds, run_seconds, total_seconds,
    queue_kept, queue_broken, deadline_kept, deadline_broken, latency_kept, latency_broken
FROM `sextant`.rolled_tasks
WHERE counted AND (hour, run) GLOBAL IN (SELECT hour, max(run) FROM `sextant`.`rolled_hours` GROUP BY hour)
---- views/tasks.sql
-- What each task is, by all its events: of each fact the last that was said, by (time,
-- sequence, state, id). submitted, queued and scheduled are the first times, the others
-- the last; scheduled is also known by started. Waiting is from queued, or submitted, to
-- scheduled, up to now for who still waits; queueing again after an eviction is no part of
-- it. Running is from the last start to its end. Clocks of two senders may disagree: no
-- time is below 0. What stands for others has counted 0: they are what is added up.
CREATE OR REPLACE VIEW `sextant`.tasks ON CLUSTER `main` AS
SELECT
    * EXCEPT (devices_node, devices_last),
    if(devices_node = node, devices_last, []) AS devices,
    state IN ('cancelled', 'failed', 'finished') AS ended,
    coalesce(scheduled, if(ended, changed, NULL)) AS waiting_until,
    coalesce(if(queued > scheduled, NULL, queued), submitted) AS waiting_since,
    dateDiff('millisecond', waiting_since, coalesce(waiting_until, now64(3, 'UTC'))) / 1000 AS waited,
    dateDiff('millisecond', started, changed) / 1000 AS ran,
    if(waited < 0, 0, waited) AS queue_seconds,
    if(state IN ('evicted', 'cancelled', 'failed', 'finished'), if(ran < 0, 0, ran), NULL) AS run_seconds,
    kind NOT IN ('podgroup', 'workload') AND (cluster, task) NOT IN (SELECT cluster, arrayJoin(owner_ids) FROM `sextant`.task_events WHERE 1 AND kind NOT IN ('podgroup', 'workload')) AS counted
FROM
(
    SELECT
        e.cluster AS cluster,
        e.task AS task,
        argMaxIf(e.state, e.place, e.state != 'updated') AS state,
        argMaxIf(e.time, e.place, e.state != 'updated') AS changed,
        argMaxIf(e.kind, e.place, e.kind != '') AS kind,
        argMaxIf(e.name, e.place, e.name != '') AS name,
        argMaxIf(e.namespace, e.place, e.namespace != '') AS namespace,
        argMaxIf(e.tenant, e.place, e.tenant != '') AS tenant,
        argMaxIf(e.queue, e.place, e.queue != '') AS queue,
        argMaxIf(e.type, e.place, e.type != '') AS type,
        argMaxIf(e.priority_class, e.place, e.priority_class != '') AS priority_class,
        argMaxIf(e.qos, e.place, e.qos != '') AS qos,
        argMaxIf(e.priority, e.place, e.priority IS NOT NULL) AS priority,
        argMaxIf(e.owner_kinds, e.place, notEmpty(e.owner_kinds)) AS owner_kinds,
        argMaxIf(e.owner_names, e.place, notEmpty(e.owner_kinds)) AS owner_names,
        argMaxIf(e.owner_ids, e.place, notEmpty(e.owner_kinds)) AS owner_ids,
        argMaxIf(e.group_id, e.place, e.group_id != '') AS group_id,
        argMaxIf(e.group_size, e.place, e.group_size != 0) AS group_size,
        argMaxIf(e.dependencies, e.place, notEmpty(e.dependencies)) AS dependencies,
        argMaxIf(e.node, e.place, e.node != '') AS node,
        argMaxIf(e.node, e.place, notEmpty(e.devices)) AS devices_node,
        argMaxIf(e.devices, e.place, notEmpty(e.devices)) AS devices_last,
        argMaxIf(e.requests, e.place, notEmpty(e.requests)) AS requests,
        argMaxIf(e.limits, e.place, notEmpty(e.limits)) AS limits,
        argMaxIf(e.deadline, e.place, e.deadline IS NOT NULL) AS deadline,
        argMaxIf(e.max_queue_seconds, e.place, e.max_queue_seconds IS NOT NULL) AS max_queue_seconds,
        argMaxIf(e.latency_target_seconds, e.place, e.latency_target_seconds IS NOT NULL) AS latency_target_seconds,
        argMaxIf(e.labels, e.place, notEmpty(e.labels)) AS labels,
        max(e.simulated) AS simulated,
        argMaxIf(e.reason, e.place, e.state != 'updated') AS reason,
        argMaxIf(tuple(e.exit_code), e.place, e.state != 'updated').1 AS exit_code,
        minOrNullIf(e.time, e.state = 'submitted') AS submitted,
        minOrNullIf(e.time, e.state = 'queued') AS queued,
        minOrNullIf(e.time, e.state IN ('scheduled', 'started')) AS scheduled,
        maxOrNullIf(e.time, e.state = 'started') AS started,
        maxOrNullIf(e.time, e.state = 'evicted') AS evicted,
        maxOrNullIf(e.time, e.state = 'cancelled') AS cancelled,
        maxOrNullIf(e.time, e.state = 'failed') AS failed,
        maxOrNullIf(e.time, e.state = 'finished') AS finished,
        countIf(e.state = 'started') AS attempts,
        countIf(e.state = 'evicted') AS evictions,
        count() AS events
    FROM
    (
        SELECT
            *,
            (time, sequence, indexOf(['updated', 'submitted', 'queued', 'scheduled', 'started', 'evicted', 'cancelled', 'failed', 'finished'], state), event_id) AS place
        FROM `sextant`.task_events FINAL
    ) AS e
    GROUP BY cluster, task
)
---- views/tasks_allocation.sql
-- What each node has of each resource, and what the tasks that are bound to it asked for:
-- allocation, which is not use. A resource is called as in tasks.requests.
CREATE OR REPLACE VIEW `sextant`.tasks_allocation ON CLUSTER `main` AS
SELECT
    n.cluster AS cluster, n.node AS node, resource,
    n.capacity_amounts[resource] AS capacity,
    n.allocatable_amounts[resource] AS allocatable,
    if(resource = 'pods', toFloat64(h.pods), h.asked[resource]) AS allocated,
    greatest(allocatable - allocated, 0) AS free,
    allocated / nullIf(allocatable, 0) AS allocated_ratio
FROM `sextant`.kubernetes_nodes AS n
LEFT JOIN
(
    SELECT cluster, node, countIf(kind = 'pod') AS pods, CAST(sumMap(requests), 'Map(String, Float64)') AS asked
    FROM `sextant`.tasks
    WHERE counted AND state IN ('scheduled', 'started') AND node != ''
    GROUP BY cluster, node
) AS h ON h.cluster = n.cluster AND h.node = n.node
ARRAY JOIN mapKeys(n.allocatable_amounts) AS resource
ORDER BY cluster, node, resource
---- views/tasks_at.sql
-- What each task was at a tick, by the events that happened before it and had come by
-- known: tasks_at(tick = …, known = …). Facts and times are as in tasks; a task that waits has
-- waited, and one that runs has run, up to the tick. It has the tasks that had not ended when
-- the day of known began, or had within a day before, and those that came on the day.
CREATE OR REPLACE VIEW `sextant`.tasks_at ON CLUSTER `main` AS
SELECT
    *,
    state IN ('cancelled', 'failed', 'finished') AS ended,
    state IN ('submitted', 'queued', 'evicted') AS waits,
    state IN ('scheduled', 'started') AS bound,
    coalesce(if(queued > scheduled, NULL, queued), submitted) AS waiting_since,
    coalesce(scheduled, if(ended, changed, NULL)) AS waiting_until,
    dateDiff('millisecond', waiting_since, coalesce(waiting_until, {tick:DateTime64(3, 'UTC')})) / 1000 AS waited,
    dateDiff('millisecond', started, if(state IN ('scheduled', 'started'), {tick:DateTime64(3, 'UTC')}, changed)) / 1000 AS ran,
    if(waited < 0, 0, waited) AS queue_seconds,
    if(ran < 0, 0, ran) AS run_seconds,
    kind NOT IN ('podgroup', 'workload') AND (cluster, task) NOT IN (SELECT cluster, arrayJoin(owner_ids) FROM `sextant`.task_log WHERE day = toDate({known:DateTime64(3, 'UTC')}) AND ingest <= {known:DateTime64(3, 'UTC')} AND time < {tick:DateTime64(3, 'UTC')} AND kind NOT IN ('podgroup', 'workload')) AS counted
FROM
(
    SELECT
        cluster,
        task,
        argMaxIf(e.state, place, e.state != 'updated') AS state,
        maxIf(e.time, e.state != 'updated') AS changed,
        min(e.time) AS began,
        argMaxIf(e.kind, place, e.kind != '') AS kind,
        argMaxIf(e.tenant, place, e.tenant != '') AS tenant,
        argMaxIf(e.queue, place, e.queue != '') AS queue,
        argMaxIf(e.type, place, e.type != '') AS type,
        argMaxIf(e.priority, place, e.priority IS NOT NULL) AS priority,
        argMaxIf(e.owners, place, e.owners != 0) AS owners,
        argMaxIf(e.group_id, place, e.group_id != '') AS group_id,
        argMaxIf(e.group_size, place, e.group_size != 0) AS group_size,
        argMaxIf(e.dependencies, place, notEmpty(e.dependencies)) AS dependencies,
        argMaxIf(e.node, place, e.node != '') AS node,
        argMaxIf(e.node, place, notEmpty(e.devices)) AS devices_node,
        if(devices_node = node, argMaxIf(e.devices, place, notEmpty(e.devices)), []) AS devices,
        argMaxIf(e.cpu_cores, place, e.requests != 0) AS cpu_cores,
        argMaxIf(e.memory_bytes, place, e.requests != 0) AS memory_bytes,
        argMaxIf(e.storage_bytes, place, e.requests != 0) AS storage_bytes,
        argMaxIf(e.accelerators, place, e.requests != 0) AS accelerators,
        argMaxIf(e.deadline, place, e.deadline IS NOT NULL) AS deadline,
        argMaxIf(e.max_queue_seconds, place, e.max_queue_seconds IS NOT NULL) AS max_queue_seconds,
        argMaxIf(e.latency_target_seconds, place, e.latency_target_seconds IS NOT NULL) AS latency_target_seconds,
        max(e.simulated) AS simulated,
        minOrNullIf(e.time, e.state = 'submitted') AS submitted,
        minOrNullIf(e.time, e.state = 'queued') AS queued,
        minOrNullIf(e.time, e.state IN ('scheduled', 'started')) AS scheduled,
        maxOrNullIf(e.time, e.state = 'started') AS started,
        maxOrNullIf(e.time, e.state = 'evicted') AS evicted,
        toUInt32(uniqExactIf(place, e.state = 'started')) AS attempts,
        toUInt32(uniqExactIf(place, e.state = 'evicted')) AS evictions
    FROM `sextant`.task_log AS e
    WHERE e.day = toDate({known:DateTime64(3, 'UTC')}) AND e.ingest <= {known:DateTime64(3, 'UTC')} AND e.time < {tick:DateTime64(3, 'UTC')}
    GROUP BY cluster, task
)
---- views/tasks_running.sql
-- What is bound to each node: its tasks and what they asked for.
CREATE OR REPLACE VIEW `sextant`.tasks_running ON CLUSTER `main` AS
SELECT
    cluster, node, count() AS running, countIf(state = 'started') AS started,
    sum(requests['cpu_cores']) AS cpu_cores,
    sum(requests['memory_bytes']) AS memory_bytes,
    sum(arraySum(mapValues(mapFilter((k, v) -> startsWith(k, 'accelerators_'), requests)))) AS accelerators,
    arraySort(groupUniqArrayArray(devices)) AS devices,
    arraySort(groupArray(task)) AS tasks
FROM `sextant`.tasks
WHERE counted AND state IN ('scheduled', 'started') AND node != ''
GROUP BY cluster, node
ORDER BY cluster, node
---- views/tasks_sla.sql
-- A row for each promise that was broken, and for each task that failed or was evicted:
-- which, when, and how it stood with the task. A promise can be broken before the task
-- ends.
CREATE OR REPLACE VIEW `sextant`.tasks_sla ON CLUSTER `main` AS
SELECT
    cluster, task, tupleElement(violation, 1) AS cause, assumeNotNull(tupleElement(violation, 2)) AS time,
    tenant, queue, type, priority_class, state, node, devices, reason, deadline, max_queue_seconds, queue_seconds, evictions
FROM `sextant`.tasks
ARRAY JOIN arrayFilter(v -> tupleElement(v, 2) IS NOT NULL,
[
    ('deadline_missed', if(deadline < if(ended, changed, now64(3, 'UTC')), deadline, NULL)),
    ('queue_time_exceeded', if(queue_seconds > max_queue_seconds, addMilliseconds(waiting_since, toInt64(max_queue_seconds * 1000)), NULL)),
    ('failed', if(state = 'failed', failed, NULL)),
    ('evicted', evicted)
]) AS violation
ORDER BY cluster, task, time, cause
---- views/tasks_times.sql
-- How long the tasks of each tenant, queue and type waited and ran: those that were placed,
-- and those that ended.
CREATE OR REPLACE VIEW `sextant`.tasks_times ON CLUSTER `main` AS
SELECT
    cluster, tenant, queue, type, count() AS tasks,
    countIf(scheduled IS NOT NULL) AS placed,
    avgIf(queue_seconds, scheduled IS NOT NULL) AS queue_seconds_avg,
    quantileExactIf(0.5)(queue_seconds, scheduled IS NOT NULL) AS queue_seconds_p50,
    quantileExactIf(0.95)(queue_seconds, scheduled IS NOT NULL) AS queue_seconds_p95,
    countIf(state = 'finished') AS finished,
    countIf(state = 'failed') AS failed,
    avgIf(run_seconds, state = 'finished') AS run_seconds_avg,
    quantileExactIf(0.5)(run_seconds, state = 'finished') AS run_seconds_p50,
    quantileExactIf(0.95)(run_seconds, state = 'finished') AS run_seconds_p95
FROM `sextant`.tasks
WHERE counted
GROUP BY cluster, tenant, queue, type
ORDER BY cluster, tenant, queue, type
---- views/tasks_usage.sql
-- What the tasks of each tenant and queue hold, and what those that wait ask for.
CREATE OR REPLACE VIEW `sextant`.tasks_usage ON CLUSTER `main` AS
SELECT
    cluster, tenant, queue,
    countIf(bound) AS running, countIf(waits) AS waiting,
    sumIf(requests['cpu_cores'], bound) AS cpu_cores, sumIf(requests['cpu_cores'], waits) AS cpu_cores_waiting,
    sumIf(requests['memory_bytes'], bound) AS memory_bytes, sumIf(requests['memory_bytes'], waits) AS memory_bytes_waiting,
    sumIf(wanted, bound) AS accelerators, sumIf(wanted, waits) AS accelerators_waiting,
    maxOrNullIf(queue_seconds, waits AND evictions = 0) AS longest_wait_seconds
FROM
(
    SELECT
        cluster, tenant, queue, requests, queue_seconds, evictions,
        state IN ('scheduled', 'started') AS bound,
        state IN ('submitted', 'queued', 'evicted') AS waits,
        arraySum(mapValues(mapFilter((k, v) -> startsWith(k, 'accelerators_'), requests))) AS wanted
    FROM `sextant`.tasks
    WHERE counted
)
GROUP BY cluster, tenant, queue
ORDER BY cluster, tenant, queue
---- views/unknown_names.sql
-- Metrics of known vendors that the catalogue does not list. They are stored as they are
-- exposed, without a unit; a row in schema/catalog gives them a meaning.
CREATE OR REPLACE VIEW `sextant`.unknown_names ON CLUSTER `main` AS
SELECT
    unknown_of AS vendor,
    name,
    uniqExact(node) AS nodes,
    count() AS series,
    min(first_seen) AS first_seen
FROM `sextant`.series FINAL
WHERE unknown_of != ''
GROUP BY vendor, name
ORDER BY vendor, name
---- views/utilization.sql
-- Where the hours of accelerators went, between two times: utilization(from = …, to = …), whole
-- hours. A row is what one task held of one device in one hour, or, with an empty task, what
-- nobody held of it; so over any grouping capacity_hours adds up to the devices that there are.
-- Columns are as in device_hours. Energy is divided by power while it was held. A slice counts
-- as its part of the device.
CREATE OR REPLACE VIEW `sextant`.utilization ON CLUSTER `main` AS
WITH
    d AS
    (
        SELECT * FROM `sextant`.rolled_devices
        WHERE hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')} AND (hour, run) GLOBAL IN (SELECT hour, max(run) FROM `sextant`.`rolled_hours` GROUP BY hour)
    ),
    a AS
    (
        SELECT * FROM `sextant`.rolled_allocations
        WHERE hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')} AND (hour, run) GLOBAL IN (SELECT hour, max(run) FROM `sextant`.`rolled_hours` GROUP BY hour)
    )
SELECT
    d.hour AS hour, d.cluster AS cluster, d.node AS node, d.node_group AS node_group, d.zone AS zone, d.rack AS rack, d.vendor AS vendor, d.kind AS kind,
    d.model AS model, d.device AS device, d.simulated AS simulated, a.tenant AS tenant, a.queue AS queue, a.type AS type, a.task AS task,
    a.allocated_seconds / 3600 AS capacity_hours, a.observed_seconds / 3600 AS observed_hours, (a.allocated_seconds - a.observed_seconds) / 3600 AS unknown_hours,
    a.busy_seconds / 3600 AS used_hours, a.allocated_seconds / 3600 AS allocated_hours, a.idle_seconds / 3600 AS idle_allocated_hours, 0. AS free_hours, 0. AS stranded_hours,
    a.memory_bound_seconds / 3600 AS memory_bound_hours, a.power_capped_seconds / 3600 AS power_capped_hours,
    d.energy_joules / 3.6e6 * if(d.watt_seconds > 0, least(a.watt_seconds / d.watt_seconds, 1), a.allocated_seconds / nullIf(d.capacity_seconds, 0)) AS energy_kwh
FROM a
INNER JOIN d ON d.hour = a.hour AND d.node = a.node AND d.device = a.device
UNION ALL
SELECT
    d.hour, d.cluster, d.node, d.node_group, d.zone, d.rack, d.vendor, d.kind, d.model, d.device, d.simulated, '', '', '', '',
    greatest(d.capacity_seconds - s.allocated, 0) / 3600 AS capacity, greatest(d.observed_seconds - s.observed, 0) / 3600 AS observed, greatest(capacity - observed, 0),
    greatest(d.busy_seconds - s.busy, 0) / 3600, 0., 0., d.free_seconds / 3600, d.stranded_seconds / 3600, greatest(d.memory_bound_seconds - s.memory_bound, 0) / 3600,
    greatest(d.power_capped_seconds - s.capped, 0) / 3600,
    d.energy_joules / 3.6e6 * greatest(1 - if(d.watt_seconds > 0, least(s.watts / d.watt_seconds, 1), s.allocated / nullIf(d.capacity_seconds, 0)), 0)
FROM d
LEFT JOIN
(
    SELECT hour, node, device, sum(allocated_seconds) AS allocated, sum(observed_seconds) AS observed, sum(busy_seconds) AS busy,
        sum(memory_bound_seconds) AS memory_bound, sum(power_capped_seconds) AS capped, sum(watt_seconds) AS watts
    FROM a
    GROUP BY hour, node, device
) AS s ON s.hour = d.hour AND s.node = d.node AND s.device = d.device
SETTINGS distributed_product_mode = 'local'
---- views/utilization_costs.sql
-- What the rows of utilization cost, by the table prices: utilization_costs(from = …, to = …). device_cost is
-- hours of the device by the price of device_hour, energy_cost is energy by the price of kwh, and
-- idle_cost is the part of both that was held and idle. NULL where there is no price.
CREATE OR REPLACE VIEW `sextant`.utilization_costs ON CLUSTER `main` AS
SELECT
    u.*,
    u.capacity_hours * p.device AS device_cost,
    u.energy_kwh * p.energy AS energy_cost,
    if(p.device IS NULL AND p.energy IS NULL, NULL, ifNull(device_cost, 0) + ifNull(energy_cost, 0)) AS cost,
    cost * if(u.capacity_hours > 0, least(u.idle_allocated_hours / u.capacity_hours, 1), 0) AS idle_cost,
    p.currency AS currency
FROM `sextant`.utilization(from = {from:DateTime64(3, 'UTC')}, to = {to:DateTime64(3, 'UTC')}) AS u
LEFT JOIN
(
    SELECT
        k.hour AS hour, k.vendor AS vendor, k.model AS model,
        argMaxOrNullIf(r.price, (r.model != '', r.vendor != '', r.valid_from), r.item = 'device_hour') AS device,
        argMaxOrNullIf(r.price, (r.model != '', r.vendor != '', r.valid_from), r.item = 'kwh') AS energy,
        max(r.currency) AS currency
    FROM
    (
        SELECT DISTINCT hour, vendor, model FROM `sextant`.rolled_devices
        WHERE hour >= toStartOfHour({from:DateTime64(3, 'UTC')}) AND hour < {to:DateTime64(3, 'UTC')} AND (hour, run) GLOBAL IN (SELECT hour, max(run) FROM `sextant`.`rolled_hours` GROUP BY hour)
    ) AS k
    CROSS JOIN (SELECT * FROM `sextant`.prices FINAL) AS r
    WHERE r.valid_from <= k.hour AND (r.vendor = '' OR r.vendor = k.vendor) AND (r.model = '' OR r.model = k.model)
    GROUP BY hour, vendor, model
) AS p ON p.hour = u.hour AND p.vendor = u.vendor AND p.model = u.model
---- queries/asof_choose.sql
-- For each ask, the highest row that becomes visible after the entity's ask before it and
-- not after its own time. The asks are few and the rows are many: rows pass by, and the
-- asks, which come with the query as the table asks, are what memory holds.
SELECT id, best.1, best.2, best.3
FROM
(
    SELECT a.id AS id, max((f.t, f.o, f.k)) AS best
    FROM
    (
        SELECT
            toString(`node`) AS k0,
            toUnixTimestamp64Milli(tick) AS t,
            toUnixTimestamp64Milli(known) AS k,
            toInt64(0) AS o,
            t AS visible
        FROM `sextant`.`features_node_test_v1` FINAL
        WHERE tick >= fromUnixTimestamp64Milli(toInt64(0), 'UTC') AND tick <= fromUnixTimestamp64Milli(toInt64(60000), 'UTC')
            AND (`node`) IN (SELECT k0 FROM asks)
        UNION ALL
        SELECT
            toString(`node`) AS k0,
            toUnixTimestamp64Milli(tick) AS t,
            toUnixTimestamp64Milli(known) AS k,
            toInt64(2) AS o,
            t AS visible
        FROM `sextant`.`features_node_test_v1_corrected` FINAL
        WHERE tick >= fromUnixTimestamp64Milli(toInt64(0), 'UTC') AND tick <= fromUnixTimestamp64Milli(toInt64(60000), 'UTC')
            AND (`node`) IN (SELECT k0 FROM asks)
    ) AS f
    ASOF INNER JOIN asks AS a ON f.k0 = a.k0 AND f.visible <= a.at
    GROUP BY a.id
)
SETTINGS do_not_merge_across_partitions_select_final = 1
---- queries/asof_fetch.sql
-- The values of rows that were chosen, which come with the query as the table picks. Keys
-- and ticks are read first; the columns of values, only where these agree.
SELECT
    p.id,
    f.flags,
    f.v0,
    f.v1,
    f.v2,
    f.v3,
    f.v4
FROM
(
    SELECT
        toString(`node`) AS k0,
        toUnixTimestamp64Milli(tick) AS t,
        toUnixTimestamp64Milli(known) AS k,
        flags,
        ifNull(toFloat64(`busy`), nan) AS v0,
        ifNull(toFloat64(`load`), nan) AS v1,
        ifNull(toFloat64(`cores`), nan) AS v2,
        ifNull(toFloat64(`up`), nan) AS v3,
        ifNull(toString(`kernel`), '') AS v4
    FROM `sextant`.`features_node_test_v1` FINAL
    PREWHERE (`node`, tick) IN
        (SELECT k0, fromUnixTimestamp64Milli(t, 'UTC') FROM picks WHERE o = 0)
) AS f
INNER JOIN picks AS p ON f.k0 = p.k0 AND f.t = p.t AND f.k = p.k AND p.o = 0
UNION ALL
SELECT
    p.id,
    f.flags,
    f.v0,
    f.v1,
    f.v2,
    f.v3,
    f.v4
FROM
(
    SELECT
        toString(`node`) AS k0,
        toUnixTimestamp64Milli(tick) AS t,
        toUnixTimestamp64Milli(known) AS k,
        flags,
        ifNull(toFloat64(`busy`), nan) AS v0,
        ifNull(toFloat64(`load`), nan) AS v1,
        ifNull(toFloat64(`cores`), nan) AS v2,
        ifNull(toFloat64(`up`), nan) AS v3,
        ifNull(toString(`kernel`), '') AS v4
    FROM `sextant`.`features_node_test_v1_corrected` FINAL
    PREWHERE (`node`, tick) IN
        (SELECT k0, fromUnixTimestamp64Milli(t, 'UTC') FROM picks WHERE o = 2)
) AS f
INNER JOIN picks AS p ON f.k0 = p.k0 AND f.t = p.t AND f.k = p.k AND p.o = 2
SETTINGS do_not_merge_across_partitions_select_final = 1
---- queries/backfill_nodes.sql
-- The high bits of a series id are its node's: nodes in this order are neighbours in samples.
SELECT node
FROM (SELECT node, min(id) AS first FROM `sextant`.series GROUP BY node)
ORDER BY first
---- queries/backfill_rows.sql
SELECT
    toString(`node`),
    toUnixTimestamp64Milli(tick),
    toUnixTimestamp64Milli(known),
    flags,
    ifNull(toFloat64(`busy`), nan),
    ifNull(toFloat64(`load`), nan),
    ifNull(toFloat64(`cores`), nan),
    ifNull(toFloat64(`up`), nan),
    ifNull(toString(`kernel`), '')
FROM `sextant`.`features_node_test_v1` FINAL
WHERE node IN (@nodes)
  AND tick >= fromUnixTimestamp64Milli(toInt64(@from), 'UTC') AND tick < fromUnixTimestamp64Milli(toInt64(@to), 'UTC')
ORDER BY `node`, tick
SETTINGS do_not_merge_across_partitions_select_final = 1
---- queries/backfill_samples.sql
-- FINAL leaves of two samples of one time the one that was in time: the one in the windows.
SELECT series, toUnixTimestamp64Milli(ts), value, flags
FROM `sextant`.samples FINAL
WHERE series GLOBAL IN (SELECT id FROM `sextant`.series WHERE node IN (@nodes) AND (@all OR name IN (@names)))
  AND ts >= fromUnixTimestamp64Milli(toInt64(@from), 'UTC') AND ts < fromUnixTimestamp64Milli(toInt64(@to), 'UTC')
  AND bitAnd(flags, @without) = 0
ORDER BY series, ts
SETTINGS do_not_merge_across_partitions_select_final = 1
---- queries/backfill_series.sql
SELECT id, node, name, mapKeys(labels), mapValues(labels)
FROM `sextant`.series FINAL
WHERE node IN (@nodes) AND (@all OR name IN (@names))
ORDER BY id
---- queries/console_agents.sql
SELECT count(), toUInt64(sum(received)), toUInt64(sum(lost)), toUInt64(sum(dropped)), toUInt64(sum(pending)), toUInt64(sum(resent)) FROM `sextant`.ledger
---- queries/console_changes.sql
SELECT time, fact, before, after FROM `sextant`.inventory_changes WHERE node = ? ORDER BY time DESC, fact LIMIT 200
---- queries/console_collectors.sql
SELECT uniqExact(node), uniqExact(agent), uniqExact(node, target), count(), countIf(state = 1), countIf(state = 2),
    maxOrNull(scrape), maxOrNull(written)
FROM `sextant`.ingest_ledger
WHERE scrape > now64(3) - INTERVAL 900 SECOND AND scrape <= now64(3) + INTERVAL 1 MINUTE
---- queries/console_dead.sql
SELECT topic, substring(reason, 1, 200) AS why, count(), max(ingest) AS last
FROM `sextant`.dead_letters FINAL
WHERE ingest > now64(3) - INTERVAL 1 DAY
GROUP BY topic, why
ORDER BY last DESC
LIMIT 50
---- queries/console_devices.sql
SELECT
    if(uid = '', concat('pci:', id), uid), id, vendor, kind, model, generation, firmware, trimRight(concat(driver, ' ', driver_version)), pci, numa,
    memory_bytes, power_limit_watts, link_width, link_max_width, partition, mig, sharing, slice_profiles, simulated = 1
FROM `sextant`.devices
WHERE node = ?
ORDER BY pci, id
LIMIT 1000
---- queries/console_expected.sql
-- Samples that the ledger claims, by node: by the time of console_visible, and by now. A record
-- that was sent twice counts once.
SELECT node, sumIf(rows, written <= fromUnixTimestamp64Milli({at:Int64}, 'UTC')), sum(rows)
FROM
(
    SELECT agent, seq, any(l.node) AS node, max(l.rows) AS rows, min(l.written) AS written
    FROM `sextant`.ingest_ledger AS l FINAL
    WHERE l.scrape >= toStartOfHour(now('UTC') - INTERVAL 30 DAY) + INTERVAL 1 HOUR
    GROUP BY agent, seq
)
GROUP BY node
---- queries/console_faults.sql
-- Faults and clock events of a node's devices over the last day, the newest first.
SELECT s.ts, n.labels['device'], if(n.metric = 'accel_fault_events', 'fault', 'clock'), if(n.metric = 'accel_fault_events', n.labels['code'], n.labels['event']), s.value
FROM `sextant`.samples AS s FINAL
INNER JOIN
(
    SELECT id, any(name) AS metric, any(labels) AS labels FROM `sextant`.series
    WHERE name IN ('accel_fault_events', 'accel_clock_events') AND node = ? GROUP BY id
) AS n ON n.id = s.series
WHERE s.ts > now64(3) - INTERVAL 1 DAY AND NOT isNaN(s.value) AND s.value > 0
    AND s.series IN (SELECT id FROM `sextant`.series WHERE name IN ('accel_fault_events', 'accel_clock_events') AND node = ?)
ORDER BY s.ts DESC
LIMIT 200
SETTINGS distributed_product_mode = 'local'
---- queries/console_flags.sql
-- What was wrong with values of one node over the last day, as the view quality has it.
SELECT
    n.labels['flag'] AS flag, n.labels['uid'] AS uid, n.labels['metric'] AS metric, n.labels['target'] AS target,
    minIf(s.ts, NOT isNaN(s.value)), maxIf(s.ts, NOT isNaN(s.value)) AS last, countIf(NOT isNaN(s.value)) AS scrapes,
    NOT isNaN(argMax(s.value, s.ts)) AND max(s.ts) > now64(3) - INTERVAL 1 MINUTE AS in_force
FROM `sextant`.samples AS s FINAL
INNER JOIN (SELECT id, any(labels) AS labels FROM `sextant`.series WHERE name = 'sample_flag' AND node = ? GROUP BY id) AS n ON n.id = s.series
WHERE s.ts > now64(3) - INTERVAL 1 DAY AND s.series IN (SELECT id FROM `sextant`.series WHERE name = 'sample_flag' AND node = ?)
GROUP BY flag, uid, metric, target
HAVING scrapes > 0
ORDER BY in_force DESC, last DESC
LIMIT 500
SETTINGS distributed_product_mode = 'local'
---- queries/console_flow.sql
-- Records of the last minutes by 10 seconds of their scrape. A record that was sent twice is
-- two; the balance is the ledger's.
SELECT
    toInt64(toUnixTimestamp(toStartOfInterval(scrape, INTERVAL 10 SECOND))) * 1000 AS at, count(), sum(rows), sum(late), sum(duplicates),
    quantile(0.5)(dateDiff('millisecond', scrape, ingest)) / 1000, quantile(0.99)(dateDiff('millisecond', scrape, ingest)) / 1000,
    quantile(0.5)(dateDiff('millisecond', ingest, written)) / 1000, quantile(0.99)(dateDiff('millisecond', ingest, written)) / 1000
FROM `sextant`.ingest_ledger
WHERE scrape > now64(3) - INTERVAL 900 SECOND AND scrape <= now64(3)
GROUP BY at
ORDER BY at
---- queries/console_node.sql
-- The newest inventory of one node, beside what console_nodes gives.
SELECT
    i.arch, i.kernel, trimRight(concat(i.os, ' ', i.os_version)), i.vendor, i.product, i.hypervisor, i.cpu_model, i.sockets, i.cores, i.numa_nodes,
    i.taints, mapUpdate(i.kubernetes_labels, i.labels), i.faults, i.collected, i.facts
FROM `sextant`.inventories AS i
WHERE i.node = ?
ORDER BY i.ingest DESC, i.since DESC
LIMIT 1
---- queries/console_nodes.sql
-- The nodes as the console's map shows them. The group is the label node_group, or the
-- name without the number at its end. Vendor and model are those of most accelerators.
SELECT
    n.node, n.simulated = 1, n.cordoned = 1, n.region, n.zone, n.rack, n.switch,
    coalesce(nullIf(n.labels['node_group'], ''), nullIf(n.kubernetes_labels['node_group'], ''), replaceRegexpOne(n.node, '[-_.]?[0-9]+$', '')),
    d.most.1, d.most.2, n.accelerators, n.threads, n.memory_bytes
FROM `sextant`.nodes AS n
LEFT JOIN
(
    SELECT node, argMax((vendor, model), (devices, vendor, model)) AS most
    FROM (SELECT node, toString(vendor) AS vendor, toString(model) AS model, count() AS devices FROM `sextant`.devices GROUP BY node, vendor, model)
    GROUP BY node
) AS d ON d.node = n.node
WHERE ? = '' OR n.node = ?
ORDER BY n.node
LIMIT ?
---- queries/console_partitions.sql
SELECT partition, max(offset), count(), max(ingest), greatest(dateDiff('millisecond', max(ingest), argMax(written, offset)), 0) / 1000
FROM `sextant`.ingest_ledger
WHERE scrape > now64(3) - INTERVAL 900 SECOND
GROUP BY partition
ORDER BY partition
LIMIT 4096
---- queries/console_ports.sql
SELECT name, kind, model, dpu, speed, up FROM `sextant`.nics WHERE node = ? ORDER BY name, id LIMIT 1000
---- queries/console_tables.sql
SELECT table, sum(rows), sum(bytes_on_disk) AS bytes
FROM system.parts
WHERE active AND database = 'sextant'
GROUP BY table
ORDER BY bytes DESC
LIMIT 100
---- queries/console_targets.sql
-- What a node's agents scraped over the last 10 minutes. The agents are found by the node,
-- since the ledger is in the order of agents.
SELECT
    target, max(scrape), argMax(rows, scrape), argMax(state, scrape), count(), countIf(state = 2), sum(late)
FROM `sextant`.ingest_ledger
WHERE agent IN (SELECT agent FROM `sextant`.agents WHERE node = ?) AND node = ? AND scrape > now64(3) - INTERVAL 10 MINUTE
GROUP BY target
ORDER BY target
LIMIT 1000
---- queries/console_tasks.sql
-- Tasks that lived between two times, with the promises that they broke. The log of tasks by
-- day bounds whose events are folded: it has each task on each day that it lived.
SELECT
    t.cluster, t.task, t.name, t.kind, t.type, t.state, t.tenant, t.queue, t.node, t.devices, t.priority,
    arraySum(mapValues(mapFilter((k, v) -> startsWith(k, 'accelerators_'), t.requests))), t.requests['cpu_cores'], t.requests['memory_bytes'],
    coalesce(t.submitted, t.queued, t.scheduled, t.started, t.changed), t.waiting_since, t.scheduled, t.started, t.evicted, t.changed, t.ended,
    t.deadline, t.max_queue_seconds, t.evictions, t.reason, t.simulated = 1,
    b.kinds, b.times, b.promised, b.measured
FROM `sextant`.tasks AS t
LEFT JOIN
(
    SELECT cluster, task, groupArray(toString(kind)) AS kinds, groupArray(breached) AS times, groupArray(promised) AS promised, groupArray(measured) AS measured
    FROM (SELECT * FROM `sextant`.sla_events FINAL ORDER BY breached)
    GROUP BY cluster, task
) AS b ON b.cluster = t.cluster AND b.task = t.task
WHERE (t.cluster, t.task) IN
    (
        SELECT cluster, task FROM `sextant`.task_log
        WHERE day >= toDate({from:DateTime64(3, 'UTC')}) - 1 AND day <= toDate({to:DateTime64(3, 'UTC')}) + 1
    )
    AND coalesce(t.submitted, t.queued, t.scheduled, t.started, t.changed) <= {to:DateTime64(3, 'UTC')}
    AND (NOT t.ended OR t.changed >= {from:DateTime64(3, 'UTC')})
    AND ({state:String} = '' OR t.state = {state:String})
    AND ({tenant:String} = '' OR t.tenant = {tenant:String})
    AND ({queue:String} = '' OR t.queue = {queue:String})
    AND ({node:String} = '' OR t.node = {node:String})
ORDER BY t.ended, t.changed DESC, t.cluster, t.task
LIMIT {limit:UInt64}
---- queries/console_visible.sql
-- Samples that a reader finds, by node, without those that the pipeline made of its own; and
-- when the question began, unix ms: what the ledger had by then must be among them.
SELECT n.node AS node, sum(s.visible), toUnixTimestamp64Milli(now64(3))
FROM
(
    SELECT series, count() AS visible
    FROM `sextant`.samples FINAL
    WHERE ts >= toStartOfHour(now('UTC') - INTERVAL 30 DAY) + INTERVAL 1 HOUR AND series NOT IN (SELECT id FROM `sextant`.series WHERE name = 'sample_flag')
    GROUP BY series
) AS s
LEFT JOIN (SELECT id, anyLast(node) AS node FROM `sextant`.series GROUP BY id) AS n ON n.id = s.series
GROUP BY node
---- queries/feature_profile.sql
-- Measures the features of one hour of a view: one scan of its tables, another of their keys, and
-- memory for the buckets that occur. A NaN, an infinity and an empty string are no value. Small
-- blocks: each row becomes as many as there are features.
INSERT INTO `sextant`.feature_profiles (view, feature, hour, rows, entities, ticks, nulls, outside, refused, newest, lowest, highest, total, text, buckets, counts, stored, made)
WITH
(
    SELECT (uniq(entity), uniqExact(tick))
    FROM
    (
        SELECT cityHash64(`node`) AS entity, tick FROM `sextant`.`features_node_test_v1` WHERE tick >= toDateTime64({hour:DateTime('UTC')}, 3, 'UTC') AND tick < toDateTime64({hour:DateTime('UTC')}, 3, 'UTC') + INTERVAL 1 HOUR
        UNION ALL
        SELECT cityHash64(`node`) AS entity, tick FROM `sextant`.`features_node_test_v1_corrected` WHERE tick >= toDateTime64({hour:DateTime('UTC')}, 3, 'UTC') AND tick < toDateTime64({hour:DateTime('UTC')}, 3, 'UTC') + INTERVAL 1 HOUR
    )
) AS seen
SELECT
    'node_test@v1', p.name, {hour:DateTime('UTC')}, p.rows, seen.1, seen.2, p.nulls, p.outside, f.refused, p.newest,
    if(p.text, 0, p.lowest), if(p.text, 0, p.highest), if(p.text, 0, p.total), p.text, p.sketch.1, p.sketch.2, {stored:UInt64}, now64(3)
FROM
(
    SELECT
        ['busy', 'load', 'cores', 'up', 'kernel'][i] AS name,
        [0, 0, 0, 0, 1][i] AS text,
        sum(n) AS rows,
        sumIf(n, bucket = 32767) AS nulls,
        sumIf(n, out AND NOT text) AS outside,
        maxIf(g.newest, bucket != 32767) AS newest,
        minIf(g.lowest, bucket != 32767) AS lowest,
        maxIf(g.highest, bucket != 32767) AS highest,
        sumIf(g.total, bucket != 32767) AS total,
        sumMapIf([bucket], [n], bucket != 32767) AS sketch
    FROM
    (
        SELECT
            i,
            multiIf(
                NOT isFinite(x), 32767,
                is_text, toInt16(ifNotFinite(x, 0)),
                x = 0, 0,
                sign(x) * (16001 + greatest(least(ceil(log2(abs(ifNotFinite(x, 1))) * 32), 16000), -16000)))::Int16 AS bucket,
            isFinite(x) AND (x < low OR x > high) AS out,
            count() AS n,
            max(tick) AS newest,
            min(x) AS lowest,
            max(x) AS highest,
            sum(x) AS total
        FROM
        (
            SELECT tick, [ifNull(toFloat64(`busy`), nan), ifNull(toFloat64(`load`), nan), ifNull(toFloat64(`cores`), nan), ifNull(toFloat64(`up`), nan), if(ifNull(toString(`kernel`), '') = '', nan, toFloat64(cityHash64(ifNull(toString(`kernel`), '')) % 1024))] AS xs
            FROM `sextant`.`features_node_test_v1_corrected` FINAL
            WHERE tick >= toDateTime64({hour:DateTime('UTC')}, 3, 'UTC') AND tick < toDateTime64({hour:DateTime('UTC')}, 3, 'UTC') + INTERVAL 1 HOUR
            UNION ALL
            SELECT tick, [ifNull(toFloat64(`busy`), nan), ifNull(toFloat64(`load`), nan), ifNull(toFloat64(`cores`), nan), ifNull(toFloat64(`up`), nan), if(ifNull(toString(`kernel`), '') = '', nan, toFloat64(cityHash64(ifNull(toString(`kernel`), '')) % 1024))] AS xs
            FROM `sextant`.`features_node_test_v1` FINAL
            WHERE tick >= toDateTime64({hour:DateTime('UTC')}, 3, 'UTC') AND tick < toDateTime64({hour:DateTime('UTC')}, 3, 'UTC') + INTERVAL 1 HOUR AND (`node`, tick) GLOBAL NOT IN (SELECT `node`, tick FROM `sextant`.`features_node_test_v1_corrected` WHERE tick >= toDateTime64({hour:DateTime('UTC')}, 3, 'UTC') AND tick < toDateTime64({hour:DateTime('UTC')}, 3, 'UTC') + INTERVAL 1 HOUR)
        )
        ARRAY JOIN xs AS x, [1, 2, 3, 4, 5]::Array(UInt16) AS i, [-inf, -inf, -inf, -inf, -inf]::Array(Float64) AS low, [inf, inf, inf, inf, inf]::Array(Float64) AS high, [0, 0, 0, 0, 1]::Array(UInt8) AS is_text
        GROUP BY i, bucket, out
    ) AS g
    GROUP BY i
) AS p
LEFT JOIN
(
    SELECT feature, sum(refused) AS refused FROM `sextant`.feature_faults FINAL WHERE view = 'node_test@v1' AND tick >= toDateTime64({hour:DateTime('UTC')}, 3, 'UTC') AND tick < toDateTime64({hour:DateTime('UTC')}, 3, 'UTC') + INTERVAL 1 HOUR GROUP BY feature
) AS f ON f.feature = p.name
SETTINGS do_not_merge_across_partitions_select_final = 1, max_block_size = 8192
---- queries/feature_skew.sql
-- Compares what was served of the ticks of one hour with the rows of the view: as known then, and
-- as corrected. NULL_VALUE was served with the default beside it, which is no value.
INSERT INTO `sextant`.feature_skews (view, feature, hour, compared, different, corrected, missing, largest)
WITH
    served AS
    (
        SELECT entity, tick, f AS feature, if(status = 'PRESENT', v, nan) AS num, if(status = 'PRESENT', x, '') AS text
        FROM `sextant`.served_features
        ARRAY JOIN features AS f, values AS v, texts AS x, statuses AS status
        WHERE view = 'node_test@v1' AND tick >= toDateTime64({hour:DateTime('UTC')}, 3, 'UTC') AND tick < toDateTime64({hour:DateTime('UTC')}, 3, 'UTC') + INTERVAL 1 HOUR AND status IN ('PRESENT', 'NULL_VALUE')
    )
SELECT
    'node_test@v1', s.feature, {hour:DateTime('UTC')}, count(),
    countIf(k.found AND (NOT (s.num = k.num OR isNaN(s.num) AND isNaN(k.num)) OR s.text != k.text)),
    countIf(c.found AND (NOT (s.num = c.num OR isNaN(s.num) AND isNaN(c.num)) OR s.text != c.text)
        OR NOT c.found AND k.found AND (NOT (s.num = k.num OR isNaN(s.num) AND isNaN(k.num)) OR s.text != k.text)),
    countIf(NOT k.found),
    max(if(k.found, ifNotFinite(abs(s.num - if(c.found, c.num, k.num)), 0), 0))
FROM served AS s
LEFT JOIN
(
    SELECT [toString(`node`)] AS entity, tick, f AS feature, n AS num, x AS text, 1 AS found
    FROM `sextant`.`features_node_test_v1` FINAL
    ARRAY JOIN ['busy', 'load', 'cores', 'up', 'kernel'] AS f, [ifNull(toFloat64(`busy`), nan), ifNull(toFloat64(`load`), nan), ifNull(toFloat64(`cores`), nan), ifNull(toFloat64(`up`), nan), nan] AS n, ['', '', '', '', ifNull(toString(`kernel`), '')] AS x
    WHERE tick >= toDateTime64({hour:DateTime('UTC')}, 3, 'UTC') AND tick < toDateTime64({hour:DateTime('UTC')}, 3, 'UTC') + INTERVAL 1 HOUR AND (`node`) GLOBAL IN (SELECT entity[1] FROM served)
) AS k ON k.entity = s.entity AND k.tick = s.tick AND k.feature = s.feature
LEFT JOIN
(
    SELECT [toString(`node`)] AS entity, tick, f AS feature, n AS num, x AS text, 1 AS found
    FROM `sextant`.`features_node_test_v1_corrected` FINAL
    ARRAY JOIN ['busy', 'load', 'cores', 'up', 'kernel'] AS f, [ifNull(toFloat64(`busy`), nan), ifNull(toFloat64(`load`), nan), ifNull(toFloat64(`cores`), nan), ifNull(toFloat64(`up`), nan), nan] AS n, ['', '', '', '', ifNull(toString(`kernel`), '')] AS x
    WHERE tick >= toDateTime64({hour:DateTime('UTC')}, 3, 'UTC') AND tick < toDateTime64({hour:DateTime('UTC')}, 3, 'UTC') + INTERVAL 1 HOUR AND (`node`) GLOBAL IN (SELECT entity[1] FROM served)
) AS c ON c.entity = s.entity AND c.tick = s.tick AND c.feature = s.feature
GROUP BY s.feature
---- queries/latest_rows.sql
SELECT
    toString(`node`),
    toUnixTimestamp64Milli(tick),
    toUnixTimestamp64Milli(known),
    flags,
    ifNull(toFloat64(`busy`), nan),
    ifNull(toFloat64(`load`), nan),
    ifNull(toFloat64(`cores`), nan),
    ifNull(toFloat64(`up`), nan),
    ifNull(toString(`kernel`), '')
FROM `sextant`.`features_node_test_v1` FINAL
WHERE tick > fromUnixTimestamp64Milli(toInt64(?), 'UTC')
ORDER BY `node`, tick DESC
LIMIT 1 BY `node`
SETTINGS do_not_merge_across_partitions_select_final = 1
---- queries/ledger_summary.sql
WITH
    agents AS
    (
        SELECT count() AS agents, sum(received) AS received, sum(lost) AS lost, sum(dropped) AS dropped,
               sum(pending) AS pending, sum(resent) AS resent
        FROM `sextant`.ledger
    ),
    audit AS -- by node: an exporter's own timestamps move samples across the border of an hour
    (
        SELECT sum(said) AS expected, sum(found) AS visible,
            sum(if(said > found, said - found, 0)) AS lost, sum(if(found > said, found - said, 0)) AS duplicate
        FROM (SELECT node, sum(expected) AS said, sum(visible) AS found FROM `sextant`.ingest_audit GROUP BY node)
    )
SELECT
    agents.agents, toUInt64(agents.received), toUInt64(agents.lost), toUInt64(agents.dropped),
    toUInt64(agents.pending), toUInt64(agents.resent),
    toUInt64(audit.expected), toUInt64(audit.visible), toUInt64(audit.lost), toUInt64(audit.duplicate)
FROM agents CROSS JOIN audit
---- queries/pane_fill.sql
-- Computes panes of samples in [from, to), unix ms.
INSERT INTO `sextant`.sample_panes (length, pane, series, n, first_ts, last_ts, first, last, min, max, sum, spread, mean_t, spread_t, span_tv, changes, resets, fallen)
-- Panes of samples in [from, to), unix ms, that fill it in a row from its start on. The times of
-- a series are distinct, so that sorting by time sorts the samples.
SELECT
    toUInt32({length:Int64} / 1000) AS length, toDateTime(intDiv(start, 1000), 'UTC') AS pane, series, toUInt32(length(v)) AS n, t[1] AS first_ts, t[-1] AS last_ts, v[1] AS first, v[-1] AS last,
    if(empty(numbers), nan, arrayMin(numbers)) AS min, if(empty(numbers), nan, arrayMax(numbers)) AS max,
    if(isFinite(arrayReduce('sumKahan', v) AS s), s, arrayReduce('sum', v)) AS sum,
    arrayReduce('varPopStable', v) * n AS spread, arrayReduce('avg', seconds) * 1000 AS mean_t,
    arrayReduce('varPopStable', seconds) * n AS spread_t, arrayReduce('covarPopStable', seconds, v) * n AS span_tv,
    toUInt32(arrayCount((a, b) -> a != b AND NOT (isNaN(a) AND isNaN(b)), before, after)) AS changes,
    toUInt32(arrayCount((a, b) -> b < a, before, after)) AS resets,
    arraySum((a, b) -> if(b < a, a, 0), before, after) AS fallen
FROM
(
    SELECT
        series, start, arraySort(groupArray((ts, value))) AS points, points.1 AS t, points.2 AS v,
        arrayFilter(x -> NOT isNaN(x), v) AS numbers, arrayMap(x -> (toUnixTimestamp64Milli(x) - toUnixTimestamp64Milli(t[1])) / 1000, t) AS seconds,
        arrayPopBack(v) AS before, arrayPopFront(v) AS after
    FROM
    (
        SELECT series, ts, value, {from:Int64} + intDiv(toUnixTimestamp64Milli(ts) - {from:Int64}, {length:Int64}) * {length:Int64} AS start
        FROM `sextant`.samples FINAL
        WHERE series GLOBAL IN (SELECT …)
          AND ts >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND ts < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
          AND bitAnd(flags, 26) = 0 AND reinterpretAsUInt64(value) != 0x7ff0000000000002
    )
    GROUP BY series, start
)
---- queries/pane_read.sql
-- Panes of a stretch of time, in its order: those that are stored, or one of samples. Where the panes
-- of a series are not needed one by one, one has what adds up; in the order of time, so that the
-- same panes give the same bits.
SELECT
    series, sum(n), toUnixTimestamp64Milli(min(first_ts)), toUnixTimestamp64Milli(max(last_ts)), argMin(first, pane), argMax(last, pane),
    if(countIf(NOT isNaN(min)) = 0, nan, minIf(min, NOT isNaN(min))), if(countIf(NOT isNaN(max)) = 0, nan, maxIf(max, NOT isNaN(max))),
    if(isFinite(arrayReduce('sumKahan', arrayMap(x -> x.2, arraySort(groupArray((pane, sum)))) AS sums) AS s), s, arraySum(sums)), 0., 0., 0., 0., 0::UInt32, 0::UInt32, 0.
FROM `sextant`.sample_panes FINAL
WHERE length = {length:Int64} / 1000 AND pane >= toDateTime({from:Int64} / 1000, 'UTC') AND pane < toDateTime({to:Int64} / 1000, 'UTC')
  AND series GLOBAL IN (SELECT …)
GROUP BY series
SETTINGS do_not_merge_across_partitions_select_final = 1
---- queries/pane_rows.sql
-- Panes of samples in [from, to), unix ms, that fill it in a row from its start on. The times of
-- a series are distinct, so that sorting by time sorts the samples.
SELECT
    toUInt32({length:Int64} / 1000) AS length, toDateTime(intDiv(start, 1000), 'UTC') AS pane, series, toUInt32(length(v)) AS n, t[1] AS first_ts, t[-1] AS last_ts, v[1] AS first, v[-1] AS last,
    if(empty(numbers), nan, arrayMin(numbers)) AS min, if(empty(numbers), nan, arrayMax(numbers)) AS max,
    if(isFinite(arrayReduce('sumKahan', v) AS s), s, arrayReduce('sum', v)) AS sum,
    arrayReduce('varPopStable', v) * n AS spread, arrayReduce('avg', seconds) * 1000 AS mean_t,
    arrayReduce('varPopStable', seconds) * n AS spread_t, arrayReduce('covarPopStable', seconds, v) * n AS span_tv,
    toUInt32(arrayCount((a, b) -> a != b AND NOT (isNaN(a) AND isNaN(b)), before, after)) AS changes,
    toUInt32(arrayCount((a, b) -> b < a, before, after)) AS resets,
    arraySum((a, b) -> if(b < a, a, 0), before, after) AS fallen
FROM
(
    SELECT
        series, start, arraySort(groupArray((ts, value))) AS points, points.1 AS t, points.2 AS v,
        arrayFilter(x -> NOT isNaN(x), v) AS numbers, arrayMap(x -> (toUnixTimestamp64Milli(x) - toUnixTimestamp64Milli(t[1])) / 1000, t) AS seconds,
        arrayPopBack(v) AS before, arrayPopFront(v) AS after
    FROM
    (
        SELECT series, ts, value, {from:Int64} + intDiv(toUnixTimestamp64Milli(ts) - {from:Int64}, {length:Int64}) * {length:Int64} AS start
        FROM `sextant`.samples FINAL
        WHERE series GLOBAL IN (SELECT …)
          AND ts >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND ts < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
          AND bitAnd(flags, 26) = 0 AND reinterpretAsUInt64(value) != 0x7ff0000000000002
    )
    GROUP BY series, start
)
---- queries/pane_samples.sql
-- The samples of some series in [from, to), unix ms, that came in time, by series and time.
SELECT series, toUnixTimestamp64Milli(ts), value
FROM `sextant`.samples FINAL
WHERE series GLOBAL IN (SELECT …)
  AND ts >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND ts < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
  AND bitAnd(flags, 26) = 0
ORDER BY series, ts
SETTINGS do_not_merge_across_partitions_select_final = 1
---- queries/pane_series.sql
-- The series that may match: id, and name and labels as name 0xff value 0xff ….
SELECT
    id,
    name,
    arrayStringConcat(arrayMap((k, v) -> concat(k, '\xff', v, '\xff'), mapKeys(labels), mapValues(labels)))
FROM `sextant`.series
WHERE id GLOBAL IN (SELECT …)
ORDER BY id
LIMIT 1 BY id
---- queries/placed.sql
-- The tasks that were bound to a node at a tick, by what was known at a time.
SELECT task, node, devices
FROM `sextant`.tasks_at(tick = {tick:DateTime64(3, 'UTC')}, known = {known:DateTime64(3, 'UTC')})
WHERE bound AND node != ''
ORDER BY task, node
---- queries/promql_features.sql
-- Rows of a feature view with a tick in [from, to], by key and tick.
SELECT
    toString(`node`),
    toUnixTimestamp64Milli(tick),
    ifNull(toFloat64(`busy`), nan),
    ifNull(toFloat64(`load`), nan),
    ifNull(toFloat64(`cores`), nan),
    ifNull(toFloat64(`up`), nan),
    ifNull(toString(`kernel`), '')
FROM `sextant`.`features_node_test_v1` FINAL
WHERE tick >= fromUnixTimestamp64Milli(toInt64(?), 'UTC') AND tick <= fromUnixTimestamp64Milli(toInt64(?), 'UTC')
ORDER BY `node`, tick
SETTINGS do_not_merge_across_partitions_select_final = 1
---- queries/promql_label_names.sql
SELECT DISTINCT arrayJoin(mapKeys(labels)) AS label
FROM `sextant`.`series`
WHERE first_seen <= fromUnixTimestamp64Milli(toInt64(?), 'UTC')
ORDER BY label
LIMIT 100
---- queries/promql_label_values.sql
SELECT DISTINCT node AS value
FROM `sextant`.`series`
WHERE first_seen <= fromUnixTimestamp64Milli(toInt64(?), 'UTC') AND value != ''
ORDER BY value
LIMIT 100
---- queries/promql_metadata.sql
SELECT name, any(kind), any(unit) FROM `sextant`.`series` GROUP BY name ORDER BY name
---- queries/promql_present.sql
-- Which of some series have a sample within [from, to].
SELECT DISTINCT series
FROM `sextant`.`samples`
WHERE series IN (1, 2)
  AND ts >= fromUnixTimestamp64Milli(toInt64(?), 'UTC') AND ts <= fromUnixTimestamp64Milli(toInt64(?), 'UTC')
  AND bitAnd(flags, 24) = 0
---- queries/promql_samples.sql
-- The samples of some series within [from, to], by series and time.
SELECT series, toUnixTimestamp64Milli(ts), value
FROM `sextant`.`samples` FINAL
WHERE series IN (1, 2)
  AND ts >= fromUnixTimestamp64Milli(toInt64(?), 'UTC') AND ts <= fromUnixTimestamp64Milli(toInt64(?), 'UTC')
  AND bitAnd(flags, 24) = 0
ORDER BY series, ts
SETTINGS do_not_merge_across_partitions_select_final = 1
---- queries/promql_series.sql
-- The series that may match: id, and name and labels as name 0xff value 0xff …, which is
-- one string a series to read. An id always stands for the same labels, so that any row
-- of it will do.
SELECT
    id,
    name,
    arrayStringConcat(arrayMap((k, v) -> concat(k, '\xff', v, '\xff'), mapKeys(labels), mapValues(labels)))
FROM `sextant`.`series`
WHERE first_seen <= fromUnixTimestamp64Milli(toInt64(?), 'UTC')
ORDER BY id
LIMIT 1 BY id
LIMIT 100
---- queries/report_budgets.sql
SELECT cluster, tenant, queue, promise, decided, broken, target_ratio, kept_ratio, budget, budget_left_ratio, burn_rate, burn_1h, burn_6h
FROM (SELECT * FROM `sextant`.error_budgets(from = {from:DateTime64(3, 'UTC')}, to = {to:DateTime64(3, 'UTC')})) AS u
WHERE toString(toDate(u.hour)) IN ({w0_0:String})
ORDER BY budget_left_ratio NULLS LAST, broken DESC, tenant, queue, promise
LIMIT 20
---- queries/report_cpu.sql
SELECT
    u.`tenant` AS `tenant`, 
    sum(core_hours) AS core_hours, sum(observed_core_hours) AS observed_core_hours, sum(used_core_hours) AS used_core_hours, sum(allocated_core_hours) AS allocated_core_hours,
    used_core_hours / nullIf(observed_core_hours, 0) AS used_ratio, allocated_core_hours / nullIf(core_hours, 0) AS allocated_ratio,
    sum(used_gib_hours) / nullIf(sum(observed_gib_hours), 0) AS memory_used_ratio, sum(allocated_gib_hours) / nullIf(sum(gib_hours), 0) AS memory_allocated_ratio
FROM (SELECT * FROM `sextant`.node_hours WHERE hour >= {from:DateTime64(3, 'UTC')} AND hour < {to:DateTime64(3, 'UTC')}) AS u
WHERE toString(toDate(u.hour)) IN ({w0_0:String})
GROUP BY u.`tenant`
ORDER BY core_hours DESC, `tenant`
LIMIT 20
---- queries/report_devices.sql
SELECT
    u.`tenant` AS `tenant`, 
    uniqExact(node, device) AS devices, sum(faults) AS faults, sum(errors_uncorrected) AS errors_uncorrected, sum(errors_corrected) AS errors_corrected,
    sum(unhealthy_hours) AS unhealthy_hours, sum(unknown_hours) AS unknown_hours, sum(throttled_hours) / nullIf(sum(observed_hours), 0) AS throttled_ratio,
    max(u.temperature_max_celsius) AS temperature_max_celsius, max(u.power_max_watts) AS power_max_watts
FROM (SELECT * FROM `sextant`.device_hours WHERE hour >= {from:DateTime64(3, 'UTC')} AND hour < {to:DateTime64(3, 'UTC')}) AS u
WHERE toString(toDate(u.hour)) IN ({w0_0:String})
GROUP BY u.`tenant`
ORDER BY faults DESC, errors_uncorrected DESC, devices DESC, `tenant`
LIMIT 20
---- queries/report_hours.sql
SELECT
    u.hour AS hour, sum(capacity_hours) AS capacity_hours, sum(unknown_hours) AS unknown_hours, sum(allocated_hours) AS allocated_hours, sum(used_hours) AS used_hours,
    sum(idle_allocated_hours) AS idle_allocated_hours
FROM (SELECT * FROM `sextant`.utilization(from = {from:DateTime64(3, 'UTC')}, to = {to:DateTime64(3, 'UTC')})) AS u
WHERE toString(toDate(u.hour)) IN ({w0_0:String})
GROUP BY hour
ORDER BY hour
---- queries/report_idle_tasks.sql
SELECT
    tenant, queue, type, task, any(u.node) AS node, any(u.model) AS model, sum(allocated_hours) AS allocated_hours, sum(idle_allocated_hours) AS idle_allocated_hours,
    idle_allocated_hours / nullIf(sum(u.observed_hours), 0) AS idle_ratio, sum(used_hours) / nullIf(sum(observed_hours), 0) AS used_ratio, sumOrNull(idle_cost) AS idle_cost
FROM (SELECT * FROM `sextant`.utilization_costs(from = {from:DateTime64(3, 'UTC')}, to = {to:DateTime64(3, 'UTC')}) WHERE task != '') AS u
WHERE toString(toDate(u.hour)) IN ({w0_0:String})
GROUP BY cluster, tenant, queue, type, task
HAVING idle_allocated_hours > 0
ORDER BY idle_allocated_hours DESC, task
LIMIT 20
---- queries/report_line.sql
SELECT node, records, lost, dropped, pending, resent, age_seconds, transport_p99_seconds, storage_p99_seconds
FROM (SELECT * FROM `sextant`.line_health) AS u
WHERE toString(toDate(u.hour)) IN ({w0_0:String})
ORDER BY lost DESC, age_seconds DESC, node
LIMIT 20
---- queries/report_regressions.sql
SELECT figure, unit, dimension, value, before, after, change_ratio
FROM (SELECT * FROM `sextant`.regressions(to = {to:DateTime64(3, 'UTC')})) AS u
WHERE toString(toDate(u.hour)) IN ({w0_0:String})
ORDER BY change_ratio DESC, figure, value
LIMIT 20
---- queries/report_rollups.sql
SELECT
    countIf(closed) AS closed_hours, countIf(NOT closed) AS open_hours,
    dateDiff('hour', {from:DateTime64(3, 'UTC')}, {to:DateTime64(3, 'UTC')}) - count() AS missing_hours, max(until) AS known_until, max(made) AS computed_at
FROM `sextant`.rolled_hours FINAL
WHERE hour >= {from:DateTime64(3, 'UTC')} AND hour < {to:DateTime64(3, 'UTC')}
---- queries/report_sick.sql
SELECT
    node, device, any(u.model) AS model, sum(faults) AS faults, sum(errors_uncorrected) AS errors_uncorrected, sum(errors_corrected) AS errors_corrected,
    sum(unhealthy_hours) AS unhealthy_hours, sum(throttled_hours) AS throttled_hours, max(u.temperature_max_celsius) AS temperature_max_celsius,
    minIf(u.hour, u.faults + u.errors_uncorrected > 0 OR u.unhealthy_hours > 0) AS first_hour, maxIf(u.hour, u.faults + u.errors_uncorrected > 0 OR u.unhealthy_hours > 0) AS last_hour
FROM (SELECT * FROM `sextant`.device_hours WHERE hour >= {from:DateTime64(3, 'UTC')} AND hour < {to:DateTime64(3, 'UTC')}) AS u
WHERE toString(toDate(u.hour)) IN ({w0_0:String})
GROUP BY node, device
HAVING faults + errors_uncorrected > 0 OR unhealthy_hours > 0
ORDER BY errors_uncorrected DESC, faults DESC, unhealthy_hours DESC, node, device
LIMIT 20
---- queries/report_stranded.sql
SELECT
    node, any(u.model) AS model, uniqExact(device) AS devices, sum(capacity_hours) AS capacity_hours, sum(allocated_hours) AS allocated_hours, sum(stranded_hours) AS stranded_hours,
    stranded_hours / nullIf(capacity_hours, 0) AS stranded_ratio
FROM (SELECT * FROM `sextant`.device_hours WHERE hour >= {from:DateTime64(3, 'UTC')} AND hour < {to:DateTime64(3, 'UTC')}) AS u
WHERE toString(toDate(u.hour)) IN ({w0_0:String})
GROUP BY node
HAVING stranded_hours > 0
ORDER BY stranded_hours DESC, node
LIMIT 20
---- queries/report_times.sql
SELECT
    u.`tenant` AS `tenant`, 
    countIf(u.placed) AS placed, quantileExactOrNullIf(0.5)(queue_seconds, u.placed) AS queue_p50_seconds, quantileExactOrNullIf(0.95)(queue_seconds, u.placed) AS queue_p95_seconds,
    quantileExactOrNullIf(0.99)(queue_seconds, u.placed) AS queue_p99_seconds,
    countIf(u.ended) AS ended, countIf(u.ended AND state = 'failed') AS failed, sum(evictions) AS evictions,
    quantileExactOrNullIf(0.5)(run_seconds, u.ended AND state = 'finished') AS run_p50_seconds, quantileExactOrNullIf(0.95)(run_seconds, u.ended AND state = 'finished') AS run_p95_seconds,
    quantileExactOrNullIf(0.5)(total_seconds, u.ended AND state = 'finished') AS completion_p50_seconds,
    quantileExactOrNullIf(0.95)(total_seconds, u.ended AND state = 'finished') AS completion_p95_seconds
FROM (SELECT * FROM `sextant`.task_hours WHERE hour >= {from:DateTime64(3, 'UTC')} AND hour < {to:DateTime64(3, 'UTC')}) AS u
WHERE toString(toDate(u.hour)) IN ({w0_0:String})
GROUP BY u.`tenant`
ORDER BY ended DESC, placed DESC, `tenant`
LIMIT 20
---- queries/report_utilization.sql
SELECT
    u.`tenant` AS `tenant`, 
    sum(capacity_hours) AS capacity_hours, sum(unknown_hours) AS unknown_hours, sum(allocated_hours) AS allocated_hours, sum(used_hours) AS used_hours,
    allocated_hours / nullIf(capacity_hours, 0) AS allocated_ratio, used_hours / nullIf(sum(observed_hours), 0) AS used_ratio,
    sum(idle_allocated_hours) AS idle_allocated_hours, sum(stranded_hours) AS stranded_hours,
    stranded_hours / nullIf(sum(u.free_hours), 0) AS fragmentation_ratio,
    sum(memory_bound_hours) AS memory_bound_hours, sum(power_capped_hours) AS power_capped_hours, sumOrNull(energy_kwh) AS energy_kwh, sumOrNull(cost) AS cost
FROM (SELECT * FROM `sextant`.utilization_costs(from = {from:DateTime64(3, 'UTC')}, to = {to:DateTime64(3, 'UTC')})) AS u
WHERE toString(toDate(u.hour)) IN ({w0_0:String})
GROUP BY u.`tenant`
ORDER BY capacity_hours DESC, `tenant`
LIMIT 20
---- queries/report_violations.sql
SELECT
    u.`tenant` AS `tenant`, 
    count() AS violations, uniqExact(cluster, task) AS tasks, avgOrNull(measured_seconds - promised_seconds) AS overrun_seconds, avgOrNull(queue_length) AS queue_length,
    avgOrNull(node_tasks) AS node_tasks, avgOrNull(node_cpu_busy_ratio) AS node_cpu_busy_ratio, avgOrNull(node_memory_used_ratio) AS node_memory_used_ratio,
    avgOrNull(device_busy_ratio) AS device_busy_ratio
FROM (SELECT * FROM `sextant`.sla_violations(from = {from:DateTime64(3, 'UTC')}, to = {to:DateTime64(3, 'UTC')})) AS u
WHERE toString(toDate(u.hour)) IN ({w0_0:String})
GROUP BY u.`tenant`
ORDER BY violations DESC, `tenant`
LIMIT 20
---- queries/report_waste.sql
SELECT
    u.`tenant` AS `tenant`, 
    sum(allocated_hours) AS allocated_hours, sum(used_hours) AS used_hours, sum(idle_allocated_hours) AS idle_allocated_hours,
    idle_allocated_hours / nullIf(sumIf(u.observed_hours, task != ''), 0) AS idle_ratio, sum(free_hours) AS free_hours, sum(stranded_hours) AS stranded_hours,
    sumOrNull(idle_cost) AS idle_cost, sumOrNull(cost) AS cost
FROM (SELECT * FROM `sextant`.utilization_costs(from = {from:DateTime64(3, 'UTC')}, to = {to:DateTime64(3, 'UTC')})) AS u
WHERE toString(toDate(u.hour)) IN ({w0_0:String})
GROUP BY u.`tenant`
ORDER BY idle_allocated_hours DESC, free_hours DESC, `tenant`
LIMIT 20
---- queries/report_worst.sql
SELECT
    time, cause, tenant, queue, type, task, node, promised_seconds, measured_seconds, queue_length, node_tasks, node_cpu_busy_ratio, device_busy_ratio, reason
FROM (SELECT * FROM `sextant`.sla_violations(from = {from:DateTime64(3, 'UTC')}, to = {to:DateTime64(3, 'UTC')})) AS u
WHERE toString(toDate(u.hour)) IN ({w0_0:String})
ORDER BY measured_seconds / promised_seconds DESC NULLS LAST, time DESC, task
LIMIT 20
---- queries/rollup_allocations.sql
-- What was made of what each task held: the slots of rollup_slots beside the rows of
-- device_monitoring. A slice that is measured itself counts by its own reading. Owners who
-- share a device or slice at a time have equal parts of it.
INSERT INTO `sextant`.rolled_allocations (hour, run, node, device, slice, cluster, task, tenant, queue, type, simulated, share, allocated_seconds, observed_seconds,
    busy_seconds, idle_seconds, memory_bound_seconds, power_capped_seconds, watt_seconds)
WITH
    {hour:DateTime64(3, 'UTC')} AS h0,
    {until:DateTime64(3, 'UTC')} AS h1
SELECT
    toDateTime(h0), {run:UInt64}, node, device, slice, cluster, task, any(tenant), any(queue), any(type), max(simulated), avg(share),
    sum(weight), sumIf(weight, busy IS NOT NULL), ifNull(sum(weight * busy), 0), sumIf(weight, busy < 0.05),
    sumIf(weight, bound), sumIf(weight, capped), ifNull(sum(weight * watts), 0)
FROM
(
    SELECT
        s.node AS node, s.device AS device, s.slice AS slice, s.cluster AS cluster, s.task AS task, s.tenant AS tenant, s.queue AS queue, s.type AS type,
        s.simulated AS simulated, s.share AS share,
        s.seconds * s.share / greatest(sum(s.seconds) OVER (PARTITION BY s.node, s.device, s.slice, s.slot) / (10000 / 1000), 1) AS weight,
        if(s.slice != '', coalesce(p.busy, u.busy), u.busy) AS busy, u.memory_bound AS bound, u.capped AS capped, u.watts AS watts
    FROM (SELECT * FROM `sextant`.rollup_slots WHERE run = {run:UInt64}) AS s
    LEFT JOIN (-- What each device did in each slot of the hour, by the corrected rows of device_monitoring. A
-- row at a tick describes the slot before it. A slot without a row, or without a reading, is a
-- gap, and no idle time. Exporters that do not know a device's id name its place; the device is
-- the one that the inventory has there.
SELECT
    v.node AS node, coalesce(nullIf(k.device, ''), v.uid) AS device, intDiv(toUnixTimestamp64Milli(v.tick), 10000) - 1 AS slot, avg(v.busy_ratio) AS busy,
    max(ifNull(v.memory_bandwidth_ratio >= 0.6 AND v.memory_bandwidth_ratio > greatest(ifNull(v.tensor_ratio, 0), ifNull(v.compute_ratio, 0)), 0)) AS memory_bound,
    max(ifNull(v.power_headroom_ratio <= 0.02, 0)) AS capped, max(ifNull(v.throttled_ratio_1m, 0)) AS throttled, max(ifNull(v.memory_used_ratio, 0)) AS memory_used,
    avg(v.power_watts) AS watts, max(v.temperature_celsius) AS heat, min(ifNull(v.health, 1)) AS health
FROM `sextant`.`device_monitoring_corrected` AS v
LEFT JOIN (SELECT node, concat('pci:', pci) AS place, device FROM `sextant`.`devices_at`(known = {until:DateTime64(3, 'UTC')}) WHERE pci != '' AND place != device) AS k ON k.node = v.node AND k.place = v.uid
WHERE v.tick > {hour:DateTime64(3, 'UTC')} AND v.tick <= {until:DateTime64(3, 'UTC')} AND cityHash64(v.node) % {buckets:UInt64} = {bucket:UInt64}
GROUP BY node, device, slot
) AS u ON u.node = s.node AND u.device = s.device AND u.slot = s.slot
    LEFT JOIN
    (
        SELECT n.node AS node, coalesce(nullIf(k.device, ''), n.device) AS device, n.slice AS slice, intDiv(toUnixTimestamp64Milli(x.ts), 10000) AS slot,
            coalesce(avgOrNullIf(x.value, n.name = 'accel_busy_ratio'), avgOrNullIf(x.value, n.name = 'accel_engine_active_ratio')) AS busy
        FROM `sextant`.samples AS x FINAL
        INNER JOIN
        (
            SELECT id, any(z.node) AS node, any(z.name) AS name, any(z.labels) AS l, l['device'] AS device, splitByChar('/', l['slice'])[1] AS slice
            FROM `sextant`.series AS z
            WHERE z.name IN ('accel_busy_ratio', 'accel_engine_active_ratio') AND z.labels['slice'] != '' AND cityHash64(z.node) % {buckets:UInt64} = {bucket:UInt64}
            GROUP BY id
        ) AS n ON n.id = x.series
        LEFT JOIN (SELECT node, concat('pci:', pci) AS place, device FROM `sextant`.`devices_at`(known = {until:DateTime64(3, 'UTC')}) WHERE pci != '' AND place != device) AS k ON k.node = n.node AND k.place = n.device
        WHERE x.ts >= h0 AND x.ts < h1 AND NOT isNaN(x.value) AND bitAnd(x.flags, 24) = 0
            AND x.series IN (SELECT id FROM `sextant`.series WHERE name IN ('accel_busy_ratio', 'accel_engine_active_ratio') AND labels['slice'] != ''
                AND cityHash64(node) % {buckets:UInt64} = {bucket:UInt64})
        GROUP BY node, device, slice, slot
    ) AS p ON p.node = s.node AND p.device = s.device AND p.slice = s.slice AND p.slot = s.slot
    SETTINGS join_use_nulls = 1
)
GROUP BY node, device, slice, cluster, task
---- queries/rollup_devices.sql
-- What each accelerator did in the hour: the rows of device_monitoring, as late samples
-- corrected them; counters, whose increase over the hour is the sum of their steps, a step back
-- being a new beginning; and who held it, by rolled_allocations. A device is there from the
-- first inventory of its node, or the first reading, until the end.
INSERT INTO `sextant`.rolled_devices (hour, run, node, device, vendor, kind, model, cluster, node_group, zone, rack, simulated, capacity_seconds, observed_seconds,
    busy_seconds, allocated_seconds, idle_allocated_seconds, free_seconds, stranded_seconds, memory_bound_seconds, power_capped_seconds, throttled_seconds,
    memory_used_seconds, energy_joules, energy_from, watt_seconds, temperature_max, power_max, faults, errors_corrected, errors_uncorrected, unhealthy_seconds)
WITH
    {hour:DateTime64(3, 'UTC')} AS h0,
    {until:DateTime64(3, 'UTC')} AS h1
SELECT
    toDateTime(h0), {run:UInt64}, k.node AS node, k.device AS device, d.vendor, d.kind, d.model, if(d.device = '', 'default', d.cluster), d.node_group, d.zone, d.rack,
    if(d.device = '', ifNull(c.sim, 0), d.simulated),
    greatest(if(d.device = '', 0, dateDiff('millisecond', greatest(d.first, h0), h1) / 1000), ifNull(u.observed, 0)) AS capacity,
    ifNull(u.observed, 0), ifNull(u.busy, 0), least(ifNull(a.allocated, 0), capacity), ifNull(a.idle, 0), ifNull(u.free, 0), ifNull(u.stranded, 0),
    ifNull(u.memory_bound, 0), ifNull(u.capped, 0), ifNull(u.throttled, 0), ifNull(u.memory_used, 0),
    coalesce(c.joules, nullIf(u.watt_seconds, 0)), multiIf(c.joules IS NOT NULL, 'counter', u.watt_seconds > 0, 'power', ''), ifNull(u.watt_seconds, 0),
    u.hottest, u.power_max, ifNull(c.faults, 0), ifNull(c.corrected, 0), ifNull(c.uncorrected, 0), ifNull(u.unhealthy, 0)
FROM
(
    SELECT node, device FROM `sextant`.devices_at(known = {until:DateTime64(3, 'UTC')}) WHERE cityHash64(node) % {buckets:UInt64} = {bucket:UInt64}
    UNION DISTINCT
    SELECT DISTINCT node, device FROM (-- What each device did in each slot of the hour, by the corrected rows of device_monitoring. A
-- row at a tick describes the slot before it. A slot without a row, or without a reading, is a
-- gap, and no idle time. Exporters that do not know a device's id name its place; the device is
-- the one that the inventory has there.
SELECT
    v.node AS node, coalesce(nullIf(k.device, ''), v.uid) AS device, intDiv(toUnixTimestamp64Milli(v.tick), 10000) - 1 AS slot, avg(v.busy_ratio) AS busy,
    max(ifNull(v.memory_bandwidth_ratio >= 0.6 AND v.memory_bandwidth_ratio > greatest(ifNull(v.tensor_ratio, 0), ifNull(v.compute_ratio, 0)), 0)) AS memory_bound,
    max(ifNull(v.power_headroom_ratio <= 0.02, 0)) AS capped, max(ifNull(v.throttled_ratio_1m, 0)) AS throttled, max(ifNull(v.memory_used_ratio, 0)) AS memory_used,
    avg(v.power_watts) AS watts, max(v.temperature_celsius) AS heat, min(ifNull(v.health, 1)) AS health
FROM `sextant`.`device_monitoring_corrected` AS v
LEFT JOIN (SELECT node, concat('pci:', pci) AS place, device FROM `sextant`.`devices_at`(known = {until:DateTime64(3, 'UTC')}) WHERE pci != '' AND place != device) AS k ON k.node = v.node AND k.place = v.uid
WHERE v.tick > {hour:DateTime64(3, 'UTC')} AND v.tick <= {until:DateTime64(3, 'UTC')} AND cityHash64(v.node) % {buckets:UInt64} = {bucket:UInt64}
GROUP BY node, device, slot
)
) AS k
LEFT JOIN `sextant`.devices_at(known = {until:DateTime64(3, 'UTC')}) AS d ON d.node = k.node AND d.device = k.device
LEFT JOIN
(
    SELECT
        w.node AS node, w.device AS device, countIf(w.busy IS NOT NULL) * 10000 / 1000 AS observed, sum(w.busy) * 10000 / 1000 AS busy,
        sumIf((1 - w.share) * 10000 / 1000, w.busy IS NOT NULL) AS free,
        sumIf((1 - w.share) * 10000 / 1000, w.node_share > 0 AND w.busy IS NOT NULL) AS stranded,
        countIf(w.memory_bound) * 10000 / 1000 AS memory_bound, countIf(w.capped) * 10000 / 1000 AS capped, sum(w.throttled) * 10000 / 1000 AS throttled,
        sum(w.memory_used) * 10000 / 1000 AS memory_used, sum(w.watts) * 10000 / 1000 AS watt_seconds, max(w.heat) AS hottest, max(w.watts) AS power_max,
        countIf(w.health = 0) * 10000 / 1000 AS unhealthy
    FROM
    (
        SELECT v.*, ifNull(h.share, 0) AS share, sum(ifNull(h.share, 0)) OVER (PARTITION BY v.node, v.slot) AS node_share
        FROM (-- What each device did in each slot of the hour, by the corrected rows of device_monitoring. A
-- row at a tick describes the slot before it. A slot without a row, or without a reading, is a
-- gap, and no idle time. Exporters that do not know a device's id name its place; the device is
-- the one that the inventory has there.
SELECT
    v.node AS node, coalesce(nullIf(k.device, ''), v.uid) AS device, intDiv(toUnixTimestamp64Milli(v.tick), 10000) - 1 AS slot, avg(v.busy_ratio) AS busy,
    max(ifNull(v.memory_bandwidth_ratio >= 0.6 AND v.memory_bandwidth_ratio > greatest(ifNull(v.tensor_ratio, 0), ifNull(v.compute_ratio, 0)), 0)) AS memory_bound,
    max(ifNull(v.power_headroom_ratio <= 0.02, 0)) AS capped, max(ifNull(v.throttled_ratio_1m, 0)) AS throttled, max(ifNull(v.memory_used_ratio, 0)) AS memory_used,
    avg(v.power_watts) AS watts, max(v.temperature_celsius) AS heat, min(ifNull(v.health, 1)) AS health
FROM `sextant`.`device_monitoring_corrected` AS v
LEFT JOIN (SELECT node, concat('pci:', pci) AS place, device FROM `sextant`.`devices_at`(known = {until:DateTime64(3, 'UTC')}) WHERE pci != '' AND place != device) AS k ON k.node = v.node AND k.place = v.uid
WHERE v.tick > {hour:DateTime64(3, 'UTC')} AND v.tick <= {until:DateTime64(3, 'UTC')} AND cityHash64(v.node) % {buckets:UInt64} = {bucket:UInt64}
GROUP BY node, device, slot
) AS v
        LEFT JOIN
        (
            -- Each slot's part of the device that is held: owners who share a slice hold it once.
            SELECT node, device, slot, least(sum(part), 1) AS share
            FROM
            (
                SELECT node, device, slice, slot, any(t.share) * least(sum(seconds) / (10000 / 1000), 1) AS part
                FROM `sextant`.rollup_slots AS t WHERE run = {run:UInt64}
                GROUP BY node, device, slice, slot
            )
            GROUP BY node, device, slot
        ) AS h ON h.node = v.node AND h.device = v.device AND h.slot = v.slot
    ) AS w
    GROUP BY node, device
) AS u ON u.node = k.node AND u.device = k.device
LEFT JOIN
(
    SELECT node, device, sum(allocated_seconds) AS allocated, sum(idle_seconds) AS idle
    FROM `sextant`.rolled_allocations
    WHERE hour = toDateTime({hour:DateTime64(3, 'UTC')}) AND run = {run:UInt64} AND cityHash64(node) % {buckets:UInt64} = {bucket:UInt64}
    GROUP BY node, device
) AS a ON a.node = k.node AND a.device = k.device
LEFT JOIN
(
    SELECT
        node, device, max(sim) AS sim,
        coalesce(maxOrNullIf(added, what = 'accel_energy_joules_total' AND slice = ''), sumOrNullIf(added, what = 'accel_energy_joules_total')) AS joules,
        toUInt64(sumIf(added, what = 'accel_fault_events')) AS faults,
        toUInt64(sumIf(added, what = 'accel_ecc_errors_total' AND class = 'correctable')) AS corrected,
        toUInt64(sumIf(added, what = 'accel_ecc_errors_total' AND class = 'uncorrectable')) AS uncorrected
    FROM
    (
        SELECT id, what, any(place) AS node, any(thing) AS device, any(part) AS slice, any(kind) AS class, max(mark) AS sim,
            if(what = 'accel_fault_events', sumIf(value, fresh), sumIf(step, fresh)) AS added,
            countIf(fresh AND (what = 'accel_fault_events' OR NOT isNaN(raw))) AS readings
        FROM
        (
            SELECT n.id AS id, n.name AS what, n.node AS place, coalesce(nullIf(k.device, ''), n.device) AS thing, n.slice AS part, n.class AS kind, n.sim AS mark, x.value AS value, x.ts >= h0 AS fresh,
                lagInFrame(x.value, 1, nan) OVER (PARTITION BY x.series ORDER BY x.ts) AS old,
                multiIf(isNaN(old), nan, x.value < old, x.value, x.value - old) AS raw,
                if(isNaN(raw), 0, raw) AS step
            FROM `sextant`.samples AS x FINAL
            INNER JOIN
            (
                SELECT id, any(z.name) AS name, any(z.node) AS node, any(z.labels) AS l, l['device'] AS device, l['slice'] AS slice, l['class'] AS class, l['simulated'] = 'true' AS sim
                FROM `sextant`.series AS z
                WHERE z.name IN ('accel_energy_joules_total', 'accel_ecc_errors_total', 'accel_fault_events') AND cityHash64(z.node) % {buckets:UInt64} = {bucket:UInt64}
                GROUP BY id
            ) AS n ON n.id = x.series
            LEFT JOIN (SELECT node, concat('pci:', pci) AS place, device FROM `sextant`.`devices_at`(known = {until:DateTime64(3, 'UTC')}) WHERE pci != '' AND place != device) AS k ON k.node = n.node AND k.place = n.device
            WHERE x.ts >= h0 - INTERVAL 15 MINUTE AND x.ts < h1 AND NOT isNaN(x.value) AND bitAnd(x.flags, 24) = 0
                AND x.series IN (SELECT id FROM `sextant`.series WHERE name IN ('accel_energy_joules_total', 'accel_ecc_errors_total', 'accel_fault_events')
                    AND cityHash64(node) % {buckets:UInt64} = {bucket:UInt64})
        )
        GROUP BY id, what
        HAVING readings > 0
    )
    GROUP BY node, device
) AS c ON c.node = k.node AND c.device = k.device
SETTINGS join_use_nulls = 0
---- queries/rollup_nodes.sql
-- What the CPUs and the memory of each node did in the hour, and what tasks asked for.
INSERT INTO `sextant`.rolled_nodes (hour, run, node, cluster, node_group, zone, rack, simulated, cores, memory_bytes, capacity_seconds, observed_seconds, cpu_busy_seconds,
    cpu_allocated_seconds, memory_used_seconds, memory_allocated_seconds)
WITH
    {hour:DateTime64(3, 'UTC')} AS h0,
    {until:DateTime64(3, 'UTC')} AS h1
SELECT
    toDateTime(h0), {run:UInt64}, n.node, if(n.cluster = '', 'default', n.cluster), n.node_group, n.zone, n.rack, n.simulation, n.cores, n.memory,
    dateDiff('millisecond', greatest(n.first, h0), h1) / 1000,
    u.rows * 10000 / 1000, u.cpu * 10000 / 1000 * n.cores, arraySum(x -> x.3 * greatest(dateDiff('millisecond', greatest(x.1, n.first), x.2), 0) / 1000, t.held), u.memory * 10000 / 1000 * n.memory, arraySum(x -> x.4 * greatest(dateDiff('millisecond', greatest(x.1, n.first), x.2), 0) / 1000, t.held)
FROM
(
    SELECT
        i.node AS node, min(i.since) AS first, argMax(i.removed, i.since) AS gone, argMax(i.simulated, i.since) AS simulation,
        toFloat64(ifNull(argMax(tuple(i.threads), i.since).1, 0)) AS cores, toFloat64(ifNull(argMax(tuple(i.memory_bytes), i.since).1, 0)) AS memory,
        argMax(i.zone, i.since) AS zone, argMax(i.rack, i.since) AS rack, argMax(i.labels, i.since) AS own, argMax(i.kubernetes_labels, i.since) AS kubernetes,
        if(own['cluster'] != '', own['cluster'], kubernetes['cluster']) AS cluster,
        arrayFirst(x -> x != '', [own['node_group'], kubernetes['node_group'], kubernetes['cloud.google.com/gke-nodepool'], kubernetes['eks.amazonaws.com/nodegroup'],
            kubernetes['kubernetes.azure.com/agentpool'], kubernetes['node.kubernetes.io/instance-type']]) AS node_group
    FROM `sextant`.inventories AS i
    WHERE i.since <= {until:DateTime64(3, 'UTC')} AND cityHash64(i.node) % {buckets:UInt64} = {bucket:UInt64}
    GROUP BY node
) AS n
LEFT JOIN
(
    SELECT node, countIf(cpu_utilization_30s IS NOT NULL) AS rows, ifNull(sum(cpu_utilization_30s), 0) AS cpu, ifNull(sum(memory_used_ratio), 0) AS memory
    FROM `sextant`.`node_monitoring_corrected`
    WHERE tick > h0 AND tick <= h1 AND cityHash64(node) % {buckets:UInt64} = {bucket:UInt64}
    GROUP BY node
) AS u ON u.node = n.node
LEFT JOIN
(
    SELECT b AS node, groupArray((a, z, cpu_cores, memory_bytes)) AS held
    FROM `sextant`.rolled_tasks
    ARRAY JOIN bound_node AS b, bound_from AS a, bound_to AS z
    WHERE hour = toDateTime({hour:DateTime64(3, 'UTC')}) AND run = {run:UInt64} AND counted
    GROUP BY node
) AS t ON t.node = n.node
WHERE n.gone = 0
---- queries/rollup_slots.sql
-- Who held what of which device in each slot of the hour, which is as long as the interval of
-- device_monitoring. Two sources tell: the scheduler, by
-- the devices of a task (to the millisecond), and the exporter, by accel_owner_info (a pod or a
-- job at each scrape, and the slice). Of one task on one device the scheduler's word counts,
-- unless the exporter knows a slice. An owner whose task nobody tells of keeps its namespace as
-- tenant. A slice is as much of its device as it has of the compute parts: of 7 in MIG (4 on an
-- A30), else of all that the layout has; of the memory where parts are not
-- known. What was held before the first inventory of the node is left out: the device counts from then.
INSERT INTO `sextant`.rollup_slots (run, node, device, slice, slot, cluster, task, tenant, queue, type, simulated, seconds, share)
WITH
    {hour:DateTime64(3, 'UTC')} AS h0,
    {until:DateTime64(3, 'UTC')} AS h1,
    bound AS
    (
        SELECT cluster, task, name, namespace, tenant, queue, type, simulated, toUnixTimestamp64Milli(a) AS at, toUnixTimestamp64Milli(b) AS upto, n AS node, ds AS devices
        FROM `sextant`.rolled_tasks
        ARRAY JOIN bound_from AS a, bound_to AS b, bound_node AS n, bound_devices AS ds
        WHERE hour = toDateTime({hour:DateTime64(3, 'UTC')}) AND run = {run:UInt64} AND counted AND cityHash64(n) % {buckets:UInt64} = {bucket:UInt64}
    ),
    told AS
    (
        SELECT node, device, '' AS slice, slot, cluster, task, tenant, queue, type, simulated,
            sum(least(upto, (slot + 1) * 10000) - greatest(at, slot * 10000)) / 1000 AS seconds
        FROM (SELECT * EXCEPT (devices), arrayJoin(devices) AS device FROM bound)
        ARRAY JOIN range(intDiv(at, 10000), intDiv(upto - 1, 10000) + 1) AS slot
        GROUP BY node, device, slot, cluster, task, tenant, queue, type, simulated
    ),
    owners AS
    (
        SELECT n.node AS node, coalesce(nullIf(k.device, ''), n.device) AS device, n.slice AS slice, n.namespace AS namespace, n.pod AS pod, n.job AS job, max(n.sim) AS sim,
            intDiv(toUnixTimestamp64Milli(s.ts), 10000) AS slot
        FROM `sextant`.samples AS s FINAL
        INNER JOIN
        (
            SELECT id, any(z.node) AS node, any(z.labels) AS l, l['device'] AS device, splitByChar('/', l['slice'])[1] AS slice, l['namespace'] AS namespace, l['pod'] AS pod,
                if(l['job_id'] != '', l['job_id'], l['hpc_job']) AS job, l['simulated'] = 'true' AS sim
            FROM `sextant`.series AS z
            WHERE z.name = 'accel_owner_info' AND cityHash64(z.node) % {buckets:UInt64} = {bucket:UInt64}
            GROUP BY id
        ) AS n ON n.id = s.series
        LEFT JOIN (SELECT node, concat('pci:', pci) AS place, device FROM `sextant`.`devices_at`(known = {until:DateTime64(3, 'UTC')}) WHERE pci != '' AND place != device) AS k ON k.node = n.node AND k.place = n.device
        WHERE s.ts >= h0 AND s.ts < h1 AND NOT isNaN(s.value) AND bitAnd(s.flags, 24) = 0
            AND s.series IN (SELECT id FROM `sextant`.series WHERE name = 'accel_owner_info' AND cityHash64(node) % {buckets:UInt64} = {bucket:UInt64})
        GROUP BY node, device, slice, namespace, pod, job, slot
    ),
    seen AS
    (
        SELECT o.node AS node, o.device AS device, o.slice AS slice, o.slot AS slot,
            if(b.task = '', '', b.cluster) AS cluster,
            multiIf(b.task != '', b.task, o.pod != '', concat(o.namespace, '/', o.pod), o.job) AS task,
            if(b.task = '', o.namespace, b.tenant) AS tenant, b.queue AS queue, b.type AS type,
            toUInt8(o.sim OR b.simulated) AS simulated, 10000 / 1000 AS seconds
        FROM owners AS o
        LEFT JOIN
        (
            SELECT node, namespace AS space, name AS owner, slot, any(cluster) AS cluster, argMax(task, at) AS task, any(tenant) AS tenant, any(queue) AS queue, any(type) AS type, max(simulated) AS simulated
            FROM bound
            ARRAY JOIN range(intDiv(at, 10000), intDiv(upto - 1, 10000) + 1) AS slot
            GROUP BY node, space, owner, slot
            UNION ALL
            SELECT node, '' AS space, task AS owner, slot, any(cluster), any(task), any(tenant), any(queue), any(type), max(simulated)
            FROM bound
            ARRAY JOIN range(intDiv(at, 10000), intDiv(upto - 1, 10000) + 1) AS slot
            GROUP BY node, owner, slot
        ) AS b ON b.node = o.node AND b.space = if(o.pod = '', '', o.namespace) AND b.owner = if(o.pod = '', o.job, o.pod) AND b.slot = o.slot
        WHERE o.pod != '' OR o.job != ''
    ),
    held AS
    (
        SELECT * FROM told WHERE (node, device, cluster, task) NOT IN (SELECT node, device, cluster, task FROM seen WHERE slice != '')
        UNION ALL
        SELECT node, device, slice, slot, cluster, task, tenant, queue, type, simulated, seconds FROM seen
        WHERE slice != '' OR (node, device, cluster, task) NOT IN (SELECT node, device, cluster, task FROM told)
    )
SELECT
    {run:UInt64}, h.node, h.device, h.slice, h.slot, h.cluster, h.task, h.tenant, h.queue, h.type, h.simulated, h.seconds,
    multiIf(h.slice = '', 1, p.share > 0, p.share, 1 / c.slices) AS share
FROM held AS h
LEFT JOIN
(
    SELECT
        node, device, if(startsWith(slice_kind, 'mig'), replaceRegexpAll(slice_id, 'gi|ci', ''), slice_id) AS slice,
        multiIf(
            slice_part > 0 AND startsWith(slice_kind, 'mig'), least(slice_part / if(model LIKE '%A30%', 4, 7), 1),
            slice_part > 0, slice_part / arraySum(slice_cores),
            slice_size > 0 AND memory_bytes > 0, least(slice_size / memory_bytes, 1), 0) AS share
    FROM `sextant`.devices_at(known = {until:DateTime64(3, 'UTC')})
    ARRAY JOIN slice_ids AS slice_id, slice_kinds AS slice_kind, arrayResize(slice_bytes, length(slice_ids)) AS slice_size, arrayResize(slice_cores, length(slice_ids)) AS slice_part
) AS p ON p.node = h.node AND p.device = h.device AND p.slice = h.slice
LEFT JOIN
(
    SELECT node, device, uniqExact(slice) AS slices FROM owners WHERE slice != '' GROUP BY node, device
) AS c ON c.node = h.node AND c.device = h.device
LEFT JOIN
(
    SELECT node, min(first) AS since FROM `sextant`.devices_at(known = {until:DateTime64(3, 'UTC')}) GROUP BY node
) AS f ON f.node = h.node
WHERE f.node = '' OR (h.slot + 1) * 10000 > toUnixTimestamp64Milli(f.since)
---- queries/rollup_tasks.sql
-- What each task did in the hour, by all events that happened before its end. Tasks that
-- lived on the day are found through task_log; facts and times are as in the view tasks. A
-- promise is decided once: when it is kept, or when its time is over.
INSERT INTO `sextant`.rolled_tasks (hour, run, cluster, task, name, namespace, tenant, queue, type, node, cpu_cores, memory_bytes, accelerators, state, counted,
    simulated, wait_seconds, bound_seconds, placed, ended, evictions, submitted, queue_seconds, run_seconds, total_seconds, queue_kept, queue_broken,
    deadline_kept, deadline_broken, latency_kept, latency_broken, bound_from, bound_to, bound_node, bound_devices)
WITH
    {hour:DateTime64(3, 'UTC')} AS h0,
    {until:DateTime64(3, 'UTC')} AS h1,
    -- In place of the time of what never was: later than all.
    toDateTime64('2200-01-01 00:00:00', 3, 'UTC') AS never
SELECT
    toDateTime(h0) AS hour, {run:UInt64} AS run, f.cluster AS cluster, f.task AS task, name, namespace, tenant, queue, type,
    if(empty(bound_node), last_node, arrayElement(bound_node, -1)) AS node,
    requests['cpu_cores'], requests['memory_bytes'], arraySum(mapValues(mapFilter((k, v) -> startsWith(k, 'accelerators_'), requests))),
    state, kind NOT IN ('podgroup', 'workload') AND (cluster, task) NOT IN (SELECT cluster, arrayJoin(owner_ids) FROM `sextant`.task_log WHERE day >= toDate({hour:DateTime64(3, 'UTC')}) AND kind NOT IN ('podgroup', 'workload')) AS counted, simulated,
    arraySum(arrayMap(x -> greatest(dateDiff('millisecond', greatest(x.1, h0), least(x.2, h1)), 0) / 1000, waits)) AS wait_seconds,
    arraySum(arrayMap((a, b) -> dateDiff('millisecond', a, b) / 1000, bound_from, bound_to)) AS bound_seconds,
    ifNull(scheduled >= h0 AND scheduled < h1, 0) AS placed,
    over >= h0 AND over < h1 AS ended,
    evictions,
    submitted,
    if(scheduled IS NULL AND over = never, NULL, greatest(dateDiff('millisecond', since, coalesce(scheduled, over)), 0) / 1000) AS queue_seconds,
    if(over = never, NULL, greatest(dateDiff('millisecond', started, over), 0) / 1000) AS run_seconds,
    if(over = never, NULL, greatest(dateDiff('millisecond', coalesce(submitted, since), over), 0) / 1000) AS total_seconds,
    queue_due != never AND coalesce(scheduled, never) <= queue_due AND placed AS queue_kept,
    queue_due >= h0 AND queue_due < h1 AND queue_due < least(coalesce(scheduled, never), over) AS queue_broken,
    deadline IS NOT NULL AND state = 'finished' AND over <= deadline AND ended AS deadline_kept,
    ifNull(deadline >= h0 AND deadline < h1 AND deadline < over, 0) AS deadline_broken,
    latency_target_seconds IS NOT NULL AND state = 'finished' AND ended AND l.task = '' AS latency_kept,
    l.task != '' AND l.at >= h0 AND l.at < h1 AS latency_broken,
    bound_from, bound_to, bound_node, bound_devices
FROM
(
    SELECT
        e.cluster AS cluster, e.task AS task,
        argMaxIf(e.name, e.place, e.name != '') AS name,
        argMaxIf(e.namespace, e.place, e.namespace != '') AS namespace,
        argMaxIf(e.kind, e.place, e.kind != '') AS kind,
        argMaxIf(e.tenant, e.place, e.tenant != '') AS tenant,
        argMaxIf(e.queue, e.place, e.queue != '') AS queue,
        argMaxIf(e.type, e.place, e.type != '') AS type,
        argMaxIf(e.node, e.place, e.node != '') AS last_node,
        argMaxIf(e.requests, e.place, notEmpty(e.requests)) AS requests,
        argMaxIf(e.deadline, e.place, e.deadline IS NOT NULL) AS deadline,
        argMaxIf(e.max_queue_seconds, e.place, e.max_queue_seconds IS NOT NULL) AS max_queue_seconds,
        argMaxIf(e.latency_target_seconds, e.place, e.latency_target_seconds IS NOT NULL) AS latency_target_seconds,
        argMaxIf(e.state, e.place, e.state != 'updated') AS state,
        max(e.simulated) AS simulated,
        minOrNullIf(e.time, e.state = 'submitted') AS submitted,
        minOrNullIf(e.time, e.state = 'queued') AS queued,
        minOrNullIf(e.time, e.state IN ('scheduled', 'started')) AS scheduled,
        maxOrNullIf(e.time, e.state = 'started') AS started,
        min(e.time) AS began,
        if(state IN ('cancelled', 'failed', 'finished'), maxIf(e.time, e.state != 'updated'), never) AS over,
        countIf(e.state = 'evicted' AND e.time >= h0) AS evictions,
        coalesce(if(queued > scheduled, NULL, queued), submitted, began) AS since,
        if(max_queue_seconds IS NULL, never, addMilliseconds(since, toInt64(max_queue_seconds * 1000))) AS queue_due,
        arraySort(x -> x.1, groupArray((e.place, e.time, e.state, e.node, e.devices))) AS steps,
        arrayMap(x -> x.2, steps) AS times,
        arrayPushBack(arrayPopFront(times), h1) AS nexts,
        arrayFill(x -> x != 'updated', arrayMap(x -> x.3, steps)) AS states,
        arrayFill(x -> x != '', arrayMap(x -> x.4, steps)) AS nodes,
        arrayFill(x -> notEmpty(x.2), arrayMap((n, x) -> (n, x.5), nodes, steps)) AS held,
        arrayFilter(x -> x.3 IN ('submitted', 'queued', 'evicted'), arrayZip(times, nexts, states)) AS waits,
        arrayFilter(x -> x.3 IN ('scheduled', 'started') AND greatest(x.1, h0) < least(x.2, h1), arrayZip(times, nexts, states, nodes, held)) AS bounds,
        arrayMap(x -> greatest(x.1, h0), bounds) AS bound_from,
        arrayMap(x -> least(x.2, h1), bounds) AS bound_to,
        arrayMap(x -> x.4, bounds) AS bound_node,
        arrayMap(x -> if(x.5.1 = x.4, x.5.2, []), bounds) AS bound_devices
    FROM
    (
        SELECT
            *,
            (time, sequence, indexOf(['updated', 'submitted', 'queued', 'scheduled', 'started', 'evicted', 'cancelled', 'failed', 'finished'], state), event_id) AS place
        FROM `sextant`.task_events FINAL
        WHERE time < {until:DateTime64(3, 'UTC')}
            AND (cluster, task) IN
            (
                SELECT DISTINCT cluster, task FROM `sextant`.task_log
                WHERE day >= toDate({hour:DateTime64(3, 'UTC')}) AND cityHash64(cluster, task) % {buckets:UInt64} = {bucket:UInt64}
            )
    ) AS e
    GROUP BY cluster, task
) AS f
LEFT JOIN
(
    SELECT cluster, task, min(breached) AS at FROM `sextant`.sla_events FINAL WHERE kind = 'latency' GROUP BY cluster, task
) AS l ON l.cluster = f.cluster AND l.task = f.task
WHERE over >= h0 OR notEmpty(bound_from) OR queue_broken OR deadline_broken OR latency_broken
---- queries/rollup_use.sql
-- What each device did in each slot of the hour, by the corrected rows of device_monitoring. A
-- row at a tick describes the slot before it. A slot without a row, or without a reading, is a
-- gap, and no idle time. Exporters that do not know a device's id name its place; the device is
-- the one that the inventory has there.
SELECT
    v.node AS node, coalesce(nullIf(k.device, ''), v.uid) AS device, intDiv(toUnixTimestamp64Milli(v.tick), 10000) - 1 AS slot, avg(v.busy_ratio) AS busy,
    max(ifNull(v.memory_bandwidth_ratio >= 0.6 AND v.memory_bandwidth_ratio > greatest(ifNull(v.tensor_ratio, 0), ifNull(v.compute_ratio, 0)), 0)) AS memory_bound,
    max(ifNull(v.power_headroom_ratio <= 0.02, 0)) AS capped, max(ifNull(v.throttled_ratio_1m, 0)) AS throttled, max(ifNull(v.memory_used_ratio, 0)) AS memory_used,
    avg(v.power_watts) AS watts, max(v.temperature_celsius) AS heat, min(ifNull(v.health, 1)) AS health
FROM `sextant`.`device_monitoring_corrected` AS v
LEFT JOIN (SELECT node, concat('pci:', pci) AS place, device FROM `sextant`.`devices_at`(known = {until:DateTime64(3, 'UTC')}) WHERE pci != '' AND place != device) AS k ON k.node = v.node AND k.place = v.uid
WHERE v.tick > {hour:DateTime64(3, 'UTC')} AND v.tick <= {until:DateTime64(3, 'UTC')} AND cityHash64(v.node) % {buckets:UInt64} = {bucket:UInt64}
GROUP BY node, device, slot
---- queries/rows_at.sql
-- Of each entity the row with the highest tick of those that were known by a time. Keys and
-- times are read first; the columns of values, of the chosen rows alone.
SELECT
    toString(`node`),
    toUnixTimestamp64Milli(tick),
    toUnixTimestamp64Milli(known),
    flags,
    ifNull(toFloat64(`busy`), nan),
    ifNull(toFloat64(`load`), nan),
    ifNull(toFloat64(`cores`), nan),
    ifNull(toFloat64(`up`), nan),
    ifNull(toString(`kernel`), '')
FROM `sextant`.`features_node_test_v1` FINAL
PREWHERE (`node`, tick) IN
(
    SELECT `node`, max(tick)
    FROM `sextant`.`features_node_test_v1` FINAL
    WHERE tick >= fromUnixTimestamp64Milli(toInt64(?), 'UTC') AND tick <= fromUnixTimestamp64Milli(toInt64(?), 'UTC')
        AND known <= fromUnixTimestamp64Milli(toInt64(?), 'UTC')
    GROUP BY `node`
)
WHERE tick >= fromUnixTimestamp64Milli(toInt64(?), 'UTC') AND known <= fromUnixTimestamp64Milli(toInt64(?), 'UTC')
ORDER BY `node`
SETTINGS do_not_merge_across_partitions_select_final = 1, distributed_product_mode = 'local'
---- queries/rows_between.sql
SELECT
    toString(`node`),
    toUnixTimestamp64Milli(tick),
    toUnixTimestamp64Milli(known),
    flags,
    ifNull(toFloat64(`busy`), nan),
    ifNull(toFloat64(`load`), nan),
    ifNull(toFloat64(`cores`), nan),
    ifNull(toFloat64(`up`), nan),
    ifNull(toString(`kernel`), '')
FROM `sextant`.`features_node_test_v1` FINAL
WHERE tick >= fromUnixTimestamp64Milli(toInt64(?), 'UTC') AND tick < fromUnixTimestamp64Milli(toInt64(?), 'UTC')
ORDER BY `node`, tick
SETTINGS do_not_merge_across_partitions_select_final = 1
---- queries/sla_breaches.sql
-- Keeps the promises that were broken by the tick and are not kept yet, with how the task, its
-- node and its queue stood.
INSERT INTO `sextant`.sla_events (cluster, task, kind, breached, tick, known, promised, measured, state, tenant, queue, type, priority, node, devices,
    waited_seconds, evictions, queue_length, tenant_running, node_tasks, node_cpu_busy, node_memory_used, device_busy, simulated)
WITH
    fresh AS (SELECT …) -- queries/sla_broken.sql
SELECT
    f.cluster, f.task, f.kind, f.breached, {tick:DateTime64(3, 'UTC')}, {known:DateTime64(3, 'UTC')}, f.promised, f.measured, f.state, f.tenant, f.queue, f.type,
    f.priority, f.node, d.devices, f.waited, f.evictions, q.waiting, n.running, m.tasks,
    u.cpu, u.memory, a.busy, f.simulated
FROM fresh AS f
LEFT JOIN
(
    SELECT e.cluster AS cluster, e.task AS task,
        if(argMaxIf(e.node, e.place, notEmpty(e.devices)) = argMaxIf(e.node, e.place, e.node != ''), argMaxIf(e.devices, e.place, notEmpty(e.devices)), []) AS devices
    FROM `sextant`.task_log AS e
    WHERE e.day = toDate({known:DateTime64(3, 'UTC')}) AND e.ingest <= {known:DateTime64(3, 'UTC')} AND e.time < {tick:DateTime64(3, 'UTC')}
        AND (e.cluster, e.task) IN (SELECT cluster, task FROM fresh)
    GROUP BY cluster, task
) AS d ON d.cluster = f.cluster AND d.task = f.task
LEFT JOIN
(
    SELECT cluster, queue, toUInt32(countIf(waits)) AS waiting FROM `sextant`.task_snapshots WHERE run = {run:UInt64} AND counted GROUP BY cluster, queue
) AS q ON q.cluster = f.cluster AND q.queue = f.queue
LEFT JOIN
(
    SELECT cluster, tenant, toUInt32(countIf(bound)) AS running FROM `sextant`.task_snapshots WHERE run = {run:UInt64} AND counted GROUP BY cluster, tenant
) AS n ON n.cluster = f.cluster AND n.tenant = f.tenant
LEFT JOIN
(
    SELECT cluster, node, toUInt32(count()) AS tasks FROM `sextant`.task_snapshots WHERE run = {run:UInt64} AND counted AND bound AND node != '' GROUP BY cluster, node
) AS m ON m.cluster = f.cluster AND m.node = f.node
LEFT JOIN
(
    SELECT n.node AS node, avgOrNull(s.value) AS busy
    FROM `sextant`.samples AS s
    INNER JOIN
    (
        SELECT id, any(node) AS node FROM `sextant`.series WHERE name = 'accel_busy_ratio' GROUP BY id
    ) AS n ON n.id = s.series
    WHERE s.series IN (SELECT id FROM `sextant`.series WHERE name = 'accel_busy_ratio' AND node IN (SELECT node FROM fresh)) AND bitAnd(s.flags, 26) = 0
        AND s.ts >= {tick:DateTime64(3, 'UTC')} - INTERVAL 1 MINUTE AND s.ts < {tick:DateTime64(3, 'UTC')} AND NOT isNaN(s.value)
    GROUP BY node
) AS a ON a.node = f.node
LEFT JOIN
(
    SELECT w.node AS node, argMax(w.cpu_utilization_1m, w.tick) AS cpu, argMax(w.memory_used_ratio_1m, w.tick) AS memory
    FROM `sextant`.node_monitoring AS w
    WHERE w.tick > {tick:DateTime64(3, 'UTC')} - INTERVAL 1 MINUTE AND w.tick <= {tick:DateTime64(3, 'UTC')} AND w.known <= {known:DateTime64(3, 'UTC')}
        AND w.node IN (SELECT node FROM fresh)
    GROUP BY w.node
) AS u ON u.node = f.node
---- queries/sla_broken.sql
-- The promises of the tasks of a snapshot that are broken, and those of them that no row says yet: no
-- promise is broken before its task began, so older rows are not read. Latency is what the
-- task's server measured and exports as task_latency_seconds{task="…"}: the newest sample
-- of the minute before.
    broken AS
    (
        SELECT
            t.cluster AS cluster, t.task AS task, v.1 AS kind, assumeNotNull(v.2) AS breached, assumeNotNull(v.3) AS promised, assumeNotNull(v.4) AS measured,
            t.state AS state, t.tenant AS tenant, t.queue AS queue, t.type AS type, t.priority AS priority, t.node AS node,
            t.queue_seconds AS waited, t.evictions AS evictions, t.simulated AS simulated, t.began AS began
        FROM `sextant`.task_snapshots AS t
        LEFT JOIN
        (
            SELECT n.labels['task'] AS task, argMaxOrNull(s.value, s.ts) AS seconds, max(s.ts) AS at
            FROM `sextant`.samples AS s
            INNER JOIN
            (
                SELECT id, any(labels) AS labels FROM `sextant`.series WHERE name = 'task_latency_seconds' GROUP BY id
            ) AS n ON n.id = s.series
            WHERE s.series IN (SELECT id FROM `sextant`.series WHERE name = 'task_latency_seconds') AND bitAnd(s.flags, 26) = 0
                AND s.ts >= {tick:DateTime64(3, 'UTC')} - INTERVAL 1 MINUTE AND s.ts < {tick:DateTime64(3, 'UTC')} AND NOT isNaN(s.value)
            GROUP BY task
        ) AS l ON l.task = t.task
        ARRAY JOIN
        [
            ('queue_time', if(t.queue_seconds > t.max_queue_seconds, addMilliseconds(t.waiting_since, toInt64(t.max_queue_seconds * 1000)), NULL),
                t.max_queue_seconds, t.queue_seconds),
            ('deadline', if(t.deadline < if(t.ended, t.changed, {tick:DateTime64(3, 'UTC')}), t.deadline, NULL),
                dateDiff('millisecond', t.began, t.deadline) / 1000, dateDiff('millisecond', t.began, if(t.ended, t.changed, {tick:DateTime64(3, 'UTC')})) / 1000),
            ('latency', if(t.bound AND l.seconds > t.latency_target_seconds, l.at, NULL), t.latency_target_seconds, l.seconds)
        ] AS v
        WHERE t.run = {run:UInt64} AND v.2 IS NOT NULL
    ),
    fresh AS
    (
        SELECT *
        FROM broken
        WHERE (cluster, task, kind) NOT IN
        (
            SELECT cluster, task, kind
            FROM `sextant`.sla_events
            WHERE breached >= (SELECT min(least(began, breached)) FROM broken) AND (cluster, task) IN (SELECT cluster, task FROM broken)
        )
    )
---- queries/task_log_carry.sql
-- Carries to a day the events of the tasks that had not ended when it began, or had within
-- the day before. It takes the events of the day itself too: those that came before the table
-- was there. Run again it adds nothing.
INSERT INTO `sextant`.task_log
SELECT
    {day:Date} AS day, cluster, task,
    bitOr(bitOr(bitOr(bitOr(
        bitShiftLeft(toUInt256(toUnixTimestamp64Milli(time)), 208),
        bitShiftLeft(toUInt256(sequence), 144)),
        bitShiftLeft(toUInt256(indexOf(['updated', 'submitted', 'queued', 'scheduled', 'started', 'evicted', 'cancelled', 'failed', 'finished'], state)), 136)),
        bitShiftLeft(toUInt256(reinterpretAsUInt128(reverse(rightPad(substring(event_id, 1, 12), 12, char(0))))), 40)),
        toUInt256(bitAnd(content, 0xffffffffff))) AS place,
    ingest, time, state, kind, tenant, queue, type, priority, toUInt8(length(owner_kinds)) AS owners, owner_ids, group_id, group_size, dependencies,
    node, devices, toUInt8(notEmpty(requests)) AS requests, e.requests['cpu_cores'] AS cpu_cores, e.requests['memory_bytes'] AS memory_bytes,
    e.requests['ephemeral_storage_bytes'] AS storage_bytes,
    arraySum(mapValues(mapFilter((k, v) -> startsWith(k, 'accelerators_'), e.requests))) AS accelerators,
    deadline, max_queue_seconds, latency_target_seconds, simulated
FROM `sextant`.task_events AS e
WHERE e.ingest < {day:Date} + INTERVAL 1 DAY AND (cluster, task) IN
(
    SELECT cluster, task
    FROM `sextant`.task_events
    WHERE ingest < {day:Date} + INTERVAL 1 DAY
    GROUP BY cluster, task
    HAVING
        argMaxIf(state, (time, sequence, indexOf(['updated', 'submitted', 'queued', 'scheduled', 'started', 'evicted', 'cancelled', 'failed', 'finished'], state)),
            state != 'updated' AND ingest < {day:Date}) NOT IN ('cancelled', 'failed', 'finished')
        OR maxIf(time, state != 'updated' AND ingest < {day:Date}) >= {day:Date} - INTERVAL 1 DAY
)
SETTINGS distributed_product_mode = 'local'
---- queries/task_snapshot.sql
INSERT INTO `sextant`.task_snapshots (run, cluster, task, state, changed, began, tenant, queue, type, priority, owners, group_id, group_size, dependencies,
    node, cpu_cores, memory_bytes, storage_bytes, accelerators, deadline, max_queue_seconds, latency_target_seconds, simulated, submitted, scheduled,
    started, evicted, attempts, evictions, ended, waits, bound, waiting_since, queue_seconds, run_seconds, counted)
SELECT {run:UInt64}, cluster, task, state, changed, began, tenant, queue, type, priority, owners, group_id, group_size, dependencies,
    node, cpu_cores, memory_bytes, storage_bytes, accelerators, deadline, max_queue_seconds, latency_target_seconds, simulated, submitted, scheduled,
    started, evicted, attempts, evictions, ended, waits, bound, waiting_since, queue_seconds, run_seconds, counted
FROM `sextant`.tasks_at(tick = {tick:DateTime64(3, 'UTC')}, known = {known:DateTime64(3, 'UTC')})
---- queries/task_snapshot_next.sql
-- The snapshot of a tick, made of one of the same day that is not after it: tasks of which no
-- event came or happened since are copied, with the times that run on; the others are folded
-- anew, from all their events, so that it is the whole fold, event by event. An owner that an
-- event names since takes its task out of what is counted; none comes back within a day.
INSERT INTO `sextant`.task_snapshots (run, cluster, task, state, changed, began, tenant, queue, type, priority, owners, group_id, group_size, dependencies,
    node, cpu_cores, memory_bytes, storage_bytes, accelerators, deadline, max_queue_seconds, latency_target_seconds, simulated, submitted, scheduled,
    started, evicted, attempts, evictions, ended, waits, bound, waiting_since, queue_seconds, run_seconds, counted)
WITH
    moved AS
    (
        SELECT cluster, task FROM `sextant`.task_log WHERE day = toDate({known:DateTime64(3, 'UTC')}) AND ingest <= {known:DateTime64(3, 'UTC')} AND time < {tick:DateTime64(3, 'UTC')} AND (ingest > fromUnixTimestamp64Milli(toInt64(70000), 'UTC') OR time >= fromUnixTimestamp64Milli(toInt64(120000), 'UTC')) GROUP BY cluster, task
    )
SELECT {run:UInt64}, cluster, task, state, changed, began, tenant, queue, type, priority, owners, group_id, group_size, dependencies,
    node, cpu_cores, memory_bytes, storage_bytes, accelerators, deadline, max_queue_seconds, latency_target_seconds, simulated, submitted, scheduled,
    started, evicted, attempts, evictions, ended, waits, bound, waiting_since,
    if(waited < 0, 0, waited) AS queue_seconds, if(ran < 0, 0, ran) AS run_seconds,
    was_counted AND (cluster, task) NOT IN (SELECT cluster, arrayJoin(owner_ids) FROM `sextant`.task_log WHERE day = toDate({known:DateTime64(3, 'UTC')}) AND ingest <= {known:DateTime64(3, 'UTC')} AND time < {tick:DateTime64(3, 'UTC')} AND (ingest > fromUnixTimestamp64Milli(toInt64(70000), 'UTC') OR time >= fromUnixTimestamp64Milli(toInt64(120000), 'UTC')) AND kind NOT IN ('podgroup', 'workload')) AS counted
FROM
(
    SELECT * EXCEPT (queue_seconds, run_seconds, counted), counted AS was_counted,
        dateDiff('millisecond', waiting_since, coalesce(scheduled, if(ended, changed, NULL), {tick:DateTime64(3, 'UTC')})) / 1000 AS waited,
        dateDiff('millisecond', started, if(bound, {tick:DateTime64(3, 'UTC')}, changed)) / 1000 AS ran
    FROM `sextant`.task_snapshots
    WHERE run = {base:UInt64} AND (cluster, task) NOT IN (SELECT cluster, task FROM moved)
)
UNION ALL
SELECT {run:UInt64}, cluster, task, state, changed, began, tenant, queue, type, priority, owners, group_id, group_size, dependencies,
    node, cpu_cores, memory_bytes, storage_bytes, accelerators, deadline, max_queue_seconds, latency_target_seconds, simulated, submitted, scheduled,
    started, evicted, attempts, evictions, ended, waits, bound, waiting_since, queue_seconds, run_seconds, counted
FROM `sextant`.tasks_at(tick = {tick:DateTime64(3, 'UTC')}, known = {known:DateTime64(3, 'UTC')})
WHERE (cluster, task) IN (SELECT cluster, task FROM moved)
---- queries/tasks.sql
SELECT cluster, task, name, state, tenant, queue, node, changed, toFloat64(ifNull(queue_seconds, nan)), toFloat64(ifNull(run_seconds, nan)), reason
FROM `sextant`.tasks
WHERE (? = '' OR state = ?) AND (? = '' OR tenant = ?)
ORDER BY changed DESC, cluster, task
LIMIT ?
