import assert from "node:assert/strict";
import { test } from "node:test";
import { column, decodeSnapshot } from "../src/lib/snapshot";
import { file } from "./file";

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
