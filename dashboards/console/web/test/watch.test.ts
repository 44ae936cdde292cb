import assert from "node:assert/strict";
import { test } from "node:test";
import type { Snapshot } from "../src/lib/snapshot";
import { changed, Frames } from "../src/lib/watch";
import { file } from "./file";

const framed = (b: ArrayBuffer): Uint8Array => {
  const out = new Uint8Array(4 + b.byteLength);
  new DataView(out.buffer).setUint32(0, b.byteLength, true);
  out.set(new Uint8Array(b), 4);
  return out;
};

const first = (): ArrayBuffer => file([["a", "b", "c"]], [[1], [2], [3]], [[1], [1], [1]], [[5], [5], [5]]);
const rows = (s: Snapshot | undefined): string => s!.keys[0]!.map((k, i) => `${k}=${s!.values[i]}/${s!.status[i]}/${s!.ages[i]}`).join(" ");

test("frames come back however the stream is cut", () => {
  const a = framed(first()), b = framed(file([["x"]], [[9]], [[1]], [[0]])), all = new Uint8Array([...a, ...b]);
  for (const n of [1, 3, 100, 1000, all.length]) {
    const f = new Frames(), got: ArrayBuffer[] = [];
    for (let i = 0; i < all.length; i += n) got.push(...f.push(all.slice(i, i + n)));
    assert.deepEqual(got.map((x) => x.byteLength), [a.length - 4, b.length - 4], `cut to ${n}`);
    assert.equal(rows(changed(undefined, got[1]!)), "x=9/1/0");
  }
});

test("changes put rows in their places", () => {
  const old = changed(undefined, first());
  const next = changed(old, file([["c", "a"]], [[30], [NaN]], [[1], [2]], [[1], [2]], { kind: "delta", since: 10, version: 20, tick: 20 }));
  assert.equal(rows(next), "a=NaN/2/2 b=2/1/5 c=30/1/1");
  assert.equal(rows(old), "a=1/1/5 b=2/1/5 c=3/1/5"); // a version never changes
  assert.equal(next!.header.version, 20);
});

test("entities come and go", () => {
  const next = changed(changed(undefined, first()), file([["d", "c"]], [[4], [33]], [[1], [1]], [[0], [0]], { kind: "delta", since: 10, version: 20, added: 1 }, [["a"]]));
  assert.equal(rows(next), "b=2/1/5 c=33/1/0 d=4/1/0");
  assert.equal(next!.header.rows, 3);
});

test("a change of another version is refused, and a heartbeat changes nothing", () => {
  const old = changed(undefined, first());
  assert.throws(() => changed(old, file([["a"]], [[1]], [[1]], [[0]], { kind: "delta", since: 9, version: 20 })), /version 9/);
  assert.throws(() => changed(undefined, file([["a"]], [[1]], [[1]], [[0]], { kind: "delta", since: 9, version: 20 })), /version 9/);
  assert.equal(changed(old, file([[]], [], [], [], { kind: "heartbeat" })), old);
});
