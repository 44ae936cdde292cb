// The flat binary of /v1/snapshot?format=raw, little-endian: "SXS1", the length of a JSON
// header, the header, and sections at multiples of 64. docs/snapshot.md describes it.

export interface SnapshotFeature {
  name: string;
  view: string;
  dtype: string;
  unit: string;
}

export interface Header {
  kind: "snapshot" | "delta" | "heartbeat" | "end";
  since?: number; // of a delta: the version that it changes
  added?: number; // of a delta: rows that are new
  removed?: number; // of a delta: entities that are gone
  sections?: { name: string; offset: number }[];
  version: number; // unix ms
  tick: number; // unix ms
  known: number; // unix ms: what was stored by then
  service: string;
  join_keys: string[];
  features: SnapshotFeature[];
  views: { view: string; tick: number; rows: number; late: boolean; ttl_seconds: number }[];
  rows: number;
  dims: number;
  offsets: { keys: number; values: number; status: number; ages: number };
}

/** Rows of a service: values[row * dims + d] is feature d, NaN where there is no value. */
export interface Snapshot {
  header: Header;
  keys: string[][]; // keys[k][row]
  values: Float32Array;
  status: Uint8Array;
  ages: Float32Array; // ages[row * views + v], in seconds, NaN where the view has no row
}

/** Feast's FieldStatus numbers. */
export const Status = { invalid: 0, present: 1, nullValue: 2, notFound: 3, outsideMaxAge: 4 } as const;

const text = new TextDecoder("utf-8", { fatal: true });

export function decodeHeader(buf: ArrayBuffer): Header {
  const view = new DataView(buf);
  if (buf.byteLength < 8 || text.decode(new Uint8Array(buf, 0, 4)) !== "SXS1") throw new Error("snapshot: it does not begin with SXS1");
  const length = view.getUint32(4, true);
  if (8 + length > buf.byteLength) throw new Error(`snapshot: a header of ${length} bytes in ${buf.byteLength}`);
  return JSON.parse(text.decode(new Uint8Array(buf, 8, length))) as Header;
}

/** n texts at a place of the file, and where what follows begins. */
export function decodeTexts(buf: ArrayBuffer, at: number, n: number): { texts: string[]; next: number } {
  const ends = new Uint32Array(buf, section(buf, "keys", at, 4 * (n + 1)), n + 1);
  const base = at + 4 * (n + 1), size = ends[n]!;
  section(buf, "keys", base, size);
  const texts = new Array<string>(n);
  for (let i = 0; i < n; i++) {
    if (ends[i]! > ends[i + 1]! || ends[i + 1]! > size) throw new Error(`snapshot: key ${i} ends at ${ends[i + 1]} of ${size}`);
    texts[i] = text.decode(new Uint8Array(buf, base + ends[i]!, ends[i + 1]! - ends[i]!));
  }
  return { texts, next: (base + size + 63) & ~63 };
}

/** Checks that a section is within the file. */
function section(buf: ArrayBuffer, name: string, at: number, size: number): number {
  if (!Number.isSafeInteger(at) || at % 4 !== 0 || at < 8 || at + size > buf.byteLength) throw new Error(`snapshot: ${name} at ${at} takes ${size} bytes of ${buf.byteLength}`);
  return at;
}

export function decodeSnapshot(buf: ArrayBuffer): Snapshot {
  const header = decodeHeader(buf), { rows, dims, offsets } = header;
  if (!Number.isSafeInteger(rows) || !Number.isSafeInteger(dims) || rows < 0 || dims < 0) throw new Error(`snapshot: ${rows} rows of ${dims}`);
  const keys: string[][] = [];
  let at = offsets.keys;
  for (let k = 0; k < header.join_keys.length; k++) {
    const { texts, next } = decodeTexts(buf, at, rows);
    keys.push(texts);
    at = next;
  }
  return {
    header, keys,
    values: new Float32Array(buf, section(buf, "values", offsets.values, 4 * rows * dims), rows * dims),
    status: new Uint8Array(buf, section(buf, "status", offsets.status, rows * dims), rows * dims),
    ages: new Float32Array(buf, section(buf, "ages", offsets.ages, 4 * rows * header.views.length), rows * header.views.length),
  };
}

/** One feature of a snapshot, by row; times are unix ms, 0 where there is no row. */
export function column(s: Snapshot, d: number): { values: Float32Array; status: Uint8Array; times: Float64Array } {
  const { rows, dims, views, features, known } = s.header;
  const v = views.findIndex((x) => x.view === features[d]?.view);
  const values = new Float32Array(rows), status = new Uint8Array(rows), times = new Float64Array(rows);
  for (let i = 0; i < rows; i++) {
    values[i] = s.values[i * dims + d]!;
    status[i] = s.status[i * dims + d]!;
    const age = v < 0 ? NaN : s.ages[i * views.length + v]!;
    times[i] = Number.isNaN(age) ? 0 : known - age * 1000;
  }
  return { values, status, times };
}
