import assert from "node:assert/strict";
import { test } from "node:test";
import { align, names, quote, stepOf } from "../src/lib/prom";

test("gaps stay gaps", () => {
  const c = align([{ metric: { __name__: "m" }, values: [[100, "1"], [120, "NaN"], [130, "4"]] }], 100, 130, 10);
  assert.deepEqual(c.times, [100, 110, 120, 130]);
  assert.deepEqual(c.series[0]!.values, [1, null, null, 4]);
});

test("more series than can be told apart are counted, not drawn", () => {
  const c = align(Array.from({ length: 25 }, (_, i) => ({ metric: { i: String(i) } })), 0, 10, 10);
  assert.deepEqual([c.series.length, c.cut], [20, 5]);
});

test("series are named by what differs", () => {
  const of = (...labels: Record<string, string>[]): string[] => names(labels.map((l) => ({ labels: l, values: [] })), ["node"]);
  assert.deepEqual(of({ __name__: "m", node: "a", device: "sda" }, { __name__: "m", node: "a", device: "sdb" }), ["sda", "sdb"]);
  assert.deepEqual(of({ __name__: "feature:v:cpu", node: "a" }), ["cpu"]);
  assert.deepEqual(of({ __name__: "x" }, { __name__: "y" }), ["x", "y"]);
});

test("a label value cannot leave its quotes", () => assert.equal(quote('a"} or up{x="\\\n'), '"a\\"} or up{x=\\"\\\\\\n"'));

test("steps are tens of seconds", () => assert.deepEqual([900, 3600, 86_400, 604_800].map(stepOf), [10, 10, 240, 1680]));
