-- +goose NO TRANSACTION
-- +goose Up

-- What was used, held and promised, by the hour: what reports read in place of samples. The
-- rows of an hour are computed together, by one run, from what the store holds of the hour, and
-- count only while rolled_hours names that run. So rows that came twice, late or corrected are
-- rolled up by computing the hour again, and nothing is ever added to (docs/adr/0027).

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "rolled_hours"}}{{.OnCluster}}
(
    hour DateTime('UTC') COMMENT 'its start',
    run UInt64 COMMENT 'that counts: the newest',
    until DateTime64(3, 'UTC') COMMENT 'what came before it is in: the end of the hour, or earlier while it lasts',
    closed UInt8 COMMENT '1: the hour was over, and settled',
    seen UInt64 COMMENT 'hash of which rows the store had of the hour; another now means that some came later',
    rows UInt64 COMMENT 'rows that the run wrote',
    made DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when'
)
ENGINE = {{.Engine "ReplacingMergeTree" "run"}}
PARTITION BY toYYYYMM(hour)
ORDER BY hour
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'Which run of each hour counts in the tables rolled_*. Read with FINAL.';
-- +goose StatementEnd

{{.Distributed "rolled_hours" "toUnixTimestamp(hour)"}}

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "rolled_tasks"}}{{.OnCluster}}
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
ENGINE = {{.Engine "MergeTree"}}
PARTITION BY toYYYYMMDD(hour)
ORDER BY (hour, run, cluster, task)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'What each task did in each hour. Read through task_hours.';
-- +goose StatementEnd

{{.Distributed "rolled_tasks" "cityHash64(cluster, task)"}}

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "rolled_allocations"}}{{.OnCluster}}
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
ENGINE = {{.Engine "MergeTree"}}
PARTITION BY toYYYYMMDD(hour)
ORDER BY (hour, run, node, device, slice, cluster, task)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'Who held what of each device in each hour, and what was made of it. Read through allocation_hours.';
-- +goose StatementEnd

{{.Distributed "rolled_allocations" "cityHash64(node)"}}

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "rolled_devices"}}{{.OnCluster}}
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
ENGINE = {{.Engine "MergeTree"}}
PARTITION BY toYYYYMMDD(hour)
ORDER BY (hour, run, node, device)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'What each accelerator did in each hour. Read through device_hours.';
-- +goose StatementEnd

{{.Distributed "rolled_devices" "cityHash64(node)"}}

-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "rolled_nodes"}}{{.OnCluster}}
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
ENGINE = {{.Engine "MergeTree"}}
PARTITION BY toYYYYMMDD(hour)
ORDER BY (hour, run, node)
SETTINGS index_granularity = 8192, ttl_only_drop_parts = 1
COMMENT 'What the CPUs and the memory of each node did in each hour. Read through node_hours.';
-- +goose StatementEnd

{{.Distributed "rolled_nodes" "cityHash64(node)"}}

-- Who held what in each slot of the hour that is computed, while it is. Each run has a
-- partition of its own and drops it; what a crash leaves expires.
-- +goose StatementBegin
CREATE TABLE IF NOT EXISTS {{.Local "rollup_slots"}}{{.OnCluster}}
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

{{.Distributed "rollup_slots" "cityHash64(node)"}}
