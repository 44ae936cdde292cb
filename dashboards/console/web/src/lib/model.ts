// The JSON of the API, as far as the console reads it.

export interface Feature {
  ref: string;
  name: string;
  view: string;
  version: number;
  latest: boolean;
  join_keys: string[];
  dtype: string;
  unit: string;
  description: string;
  tier: string;
  owner: string;
  interval_seconds: number;
  ttl_seconds: number;
  min?: number;
  max?: number;
  default?: number;
  expr: string;
  push?: boolean;
}

export interface Node {
  node: string;
  simulated: boolean;
  cordoned: boolean;
  region: string;
  zone: string;
  rack: string;
  switch: string;
  group: string;
  vendor: string;
  model: string;
  accelerators: number;
  threads: number | null;
  memory_bytes: number | null;
  seen: number;
}

export interface Nodes {
  nodes: Node[];
  at: string; // of the inventories
  stale: boolean; // the store does not answer: these are those of at
}

export interface Device {
  uid: string;
  id: string;
  vendor: string;
  kind: string;
  model: string;
  generation: string;
  firmware: string;
  driver: string;
  pci: string;
  numa: number | null;
  memory_bytes: number | null;
  power_limit_watts: number | null;
  link_width: number | null;
  link_max_width: number | null;
  partition: string;
  mig: string;
  sharing: string;
  slices: string[] | null;
  simulated: boolean;
}

export interface NodeDetail extends Node {
  arch: string;
  kernel: string;
  os: string;
  maker: string;
  product: string;
  hypervisor: string;
  cpu_model: string;
  sockets: number | null;
  cores: number | null;
  numa_nodes: number;
  taints: string[] | null;
  labels: Record<string, string> | null;
  unread: string[] | null;
  collected: string | null;
  facts: Record<string, string> | null;
  devices: Device[];
  ports: { name: string; kind: string; model: string; dpu: string; bytes_per_second: number | null; up: number | null }[];
  targets: { target: string; last: string; samples: number; state: string; records: number; failed: number; late: number }[];
  flags: { flag: string; uid: string; metric: string; target: string; first: string; last: string; scrapes: number; in_force: boolean }[];
  faults: { time: string; device: string; kind: string; code: string; count: number }[];
  changes: { time: string; fact: string; before: string; after: string }[];
}

export interface Task {
  cluster: string;
  task: string;
  name: string;
  kind: string;
  type: string;
  state: string;
  tenant: string;
  queue: string;
  node: string;
  devices: string[] | null;
  priority: number | null;
  accelerators: number;
  cpu_cores: number;
  memory_bytes: number;
  begun: string;
  waiting_from: string | null;
  scheduled: string | null;
  started: string | null;
  evicted: string | null;
  changed: string;
  ended: boolean;
  deadline: string | null;
  max_queue_seconds: number | null;
  evictions: number;
  reason: string;
  simulated: boolean;
  breaks: { kind: string; time: string; promised_seconds: number; measured_seconds: number }[];
}

export interface Tasks {
  from: string;
  to: string;
  tasks: Task[];
  more: boolean;
}

export interface Flow {
  time: number;
  records: number;
  samples: number;
  late: number;
  repeated: number;
  transport_p50: number;
  transport_p99: number;
  storage_p50: number;
  storage_p99: number;
}

export interface Line {
  at: string;
  window_seconds: number;
  flow: Flow[];
  collectors: { nodes: number; agents: number; targets: number; records: number; partial: number; failed: number; newest_scrape: string | null; newest_stored: string | null };
  partitions: { partition: number; offset: number; records: number; appended: string; lag_seconds: number }[];
  dead: { topic: string; reason: string; records: number; last: string }[];
  tables: { table: string; rows: number; bytes: number }[];
}

export interface Ledger {
  at: string;
  agents: number;
  received: number;
  lost: number;
  dropped: number;
  pending: number;
  resent: number;
  expected: number;
  visible: number;
  missing: number;
  duplicate: number;
}

export interface Ready {
  status: string;
  detail?: string;
  views: { view: string; entities: number; newest_tick?: string; age_seconds?: number }[];
}

/** An answer of /get-online-features: a column a result. */
export interface Online {
  metadata: { feature_names: string[]; flags?: Record<string, number[]> };
  results: { values: (number | string | boolean | null)[]; statuses: string[]; event_timestamps: string[] }[];
}

/** A view in the list of /v1/views. */
export interface View {
  ref: string;
  name: string;
  version: number;
  latest: boolean;
  kind: "promql" | "sql" | "push";
  freshness: { rows: number; newest_tick?: string; age_seconds?: number; fresh: boolean };
  services: string[];
}

/** What computes a feature, of /v1/views/{view}. */
export interface Computed {
  engine: string;
  why?: string;
  where: string;
  looks_back_seconds: number;
}

export interface ViewDetail extends View {
  features: { name: string; computed: Computed }[];
}

/** The lineage of one feature, of /v1/lineage. */
export interface Lineage {
  feature: string;
  kind: "promql" | "sql" | "push";
  reads: { metric: string; through?: string[]; origins: { exporter: string; vendor?: string; metric?: string; conversion?: string }[] }[] | null;
  tables: { name: string; view?: string; features?: string[] }[] | null;
  services: { service: string; place: number; model?: string; through?: string }[] | null;
  fault?: string;
}

/** What the values of a feature were, of /v1/quality. */
export interface Quality {
  from: string;
  to: string;
  features: {
    hours: number; rows: number; null_ratio: number; out_of_range_ratio: number; newest_value: string; mean: number | null;
    p05: number | null; p50: number | null; p95: number | null; p99: number | null; psi: { baseline: string; psi: number }[] | null; served: number; skew_ratio: number; crossed: string[] | null;
  }[];
  hours?: { hour: string; rows: number; null_ratio: number; p05: number | null; p50: number | null; p95: number | null }[];
}
