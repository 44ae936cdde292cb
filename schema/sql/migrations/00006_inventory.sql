-- +goose NO TRANSACTION
-- +goose Up

-- One row per node and content. An unchanged document that comes again replaces its row,
-- and moves collected and ingest on; another content begins a row of its own, so the
-- table is the history. An agent that starts again begins a row too, with the same hash.
-- Rows stay: a node that has not changed for a year must not fall out of the cluster.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "inventories"}}{{.OnCluster}}
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
ENGINE = {{.Engine "ReplacingMergeTree" "ingest"}}
ORDER BY (node, since)
SETTINGS index_granularity = 1024{{.DedupWindow}}
COMMENT 'What each node was made of, and since when. Read with FINAL, or through nodes.';
-- +goose StatementEnd

{{.Distributed "inventories" "cityHash64(node)"}}

-- The accelerators, network ports and disks of each row of inventories.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "inventory_parts"}}{{.OnCluster}}
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
ENGINE = {{.Engine "ReplacingMergeTree" "ingest"}}
ORDER BY (node, since, part, id)
SETTINGS index_granularity = 8192{{.DedupWindow}}
COMMENT 'The parts of each row of inventories. Read with FINAL, or through devices and nics.';
-- +goose StatementEnd

{{.Distributed "inventory_parts" "cityHash64(node)"}}

-- The links of each row of inventories.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "inventory_links"}}{{.OnCluster}}
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
ENGINE = {{.Engine "ReplacingMergeTree" "ingest"}}
ORDER BY (node, since, from_part, from_id, to_part, to_id, kind)
SETTINGS index_granularity = 8192{{.DedupWindow}}
COMMENT 'How the parts of a node hang together. Read with FINAL, or through links.';
-- +goose StatementEnd

{{.Distributed "inventory_links" "cityHash64(node)"}}
