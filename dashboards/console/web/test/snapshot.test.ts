import assert from "node:assert/strict";
import { test } from "node:test";
import { column, decodeSnapshot } from "../src/lib/snapshot";

const round = (n: number): number => (n + 63) & ~63;

/** A file as docs/snapshot.md describes it. */
function file(keys: string[][], values: number[][], status: number[][], ages: number[][]): ArrayBuffer {
  const rows = keys[0]!.length, dims = values[0]?.length ?? 0, views = ages[0]?.length ?? 0;
  const blobs = keys.map((k) => {
    const text = k.map((s) => new TextEncoder().encode(s)), ends = [0];
    for (const t of text) ends.push(ends[ends.length - 1]! + t.length);
    return Buffer.concat([new Uint8Array(new Uint32Array(ends).buffer), ...text]);
  });
  const base = 1024, offsets = { keys: base, values: 0, status: 0, ages: 0 };
  let at = base;
  const places = blobs.map((b) => { const p = at; at = round(at + b.length); return p; });
  offsets.values = at;
  at = round(at + 4 * rows * dims);
  offsets.status = at;
  at = round(at + rows * dims);
  offsets.ages = at;
  at = round(at + 4 * rows * views);
  const out = Buffer.alloc(at);
  out.write("SXS1");
  out.writeUInt32LE(base - 8, 4);
  const features = Array.from({ length: dims }, (_, d) => ({ name: `f${d}`, view: "v0@v1", dtype: "float32", unit: "ratio" }));
  out.write(JSON.stringify({ version: 10, tick: 10, known: 20_000, service: "s", join_keys: keys.map((_, i) => `k${i}`), features, views: [{ view: "v0@v1", tick: 10, rows, late: false, ttl_seconds: 60 }], rows, dims, offsets }).padEnd(base - 8), 8);
  blobs.forEach((b, i) => b.copy(out, places[i]));
  values.flat().forEach((v, i) => out.writeFloatLE(v, offsets.values + 4 * i));
  status.flat().forEach((v, i) => out.writeUInt8(v, offsets.status + i));
  ages.flat().forEach((v, i) => out.writeFloatLE(v, offsets.ages + 4 * i));
  return out.buffer.slice(out.byteOffset, out.byteOffset + out.length) as ArrayBuffer;
}

const good = (): ArrayBuffer => file([["a", "größe", ""]], [[0.5, 1], [NaN, 2], [0, NaN]], [[1, 1], [2, 1], [1, 3]], [[1], [2.5], [NaN]]);

test("keys, values, statuses and times come back", () => {
  const s = decodeSnapshot(good());
  assert.deepEqual(s.keys, [["a", "größe", ""]]);
  const c = column(s, 0);
  assert.deepEqual([...c.values], [0.5, NaN, 0]);
  assert.deepEqual([...c.status], [1, 2, 1]);
  assert.deepEqual([...c.times], [19_000, 17_500, 0]);
  assert.deepEqual([...column(s, 1).status], [1, 1, 3]);
});

test("two keys stand one behind the other", () => {
  const s = decodeSnapshot(file([["n1", "n2"], ["gpu-0", "gpu-1"]], [[1], [2]], [[1], [1]], [[0], [0]]));
  assert.deepEqual(s.keys, [["n1", "n2"], ["gpu-0", "gpu-1"]]);
});

test("no rows are no fault", () => assert.equal(decodeSnapshot(file([[]], [], [], [])).values.length, 0));

test("a file that is cut or wrong is refused, and never read beyond its end", () => {
  const whole = good();
  for (const n of [0, 3, 7, 100, 1030, whole.byteLength - 64]) assert.throws(() => decodeSnapshot(whole.slice(0, n)), /snapshot|JSON/, `${n} bytes`);
  const magic = good();
  new Uint8Array(magic)[0] = 0x41;
  assert.throws(() => decodeSnapshot(magic), /SXS1/);
  const ends = good();
  new DataView(ends).setUint32(1024 + 4, 1 << 20, true);
  assert.throws(() => decodeSnapshot(ends), /snapshot: key 0/);
  const text = new TextDecoder().decode(good()).replace('"rows":3', '"rows":9999999');
  assert.throws(() => decodeSnapshot(new TextEncoder().encode(text).buffer as ArrayBuffer), /snapshot/);
});
