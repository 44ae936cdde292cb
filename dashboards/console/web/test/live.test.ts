import assert from "node:assert/strict";
import { test } from "node:test";
import { backoff } from "../src/lib/live";
import { matches, wordsOf } from "../src/lib/data";
import { fill, type Values } from "../src/lib/matrix";
import type { Node } from "../src/lib/model";
import { href, parse } from "../src/lib/url";

test("waiting doubles and ends at a minute or so", () => {
  assert.deepEqual([1, 2, 3, 10, 100].map((n) => backoff(n, 0.5)), [2000, 4000, 8000, 60_000, 60_000]);
  assert.ok(backoff(3, 0) < backoff(3, 1));
});

test("links lead back to what they were made of", () => {
  const at = parse(new URL(href(["nodes", "a/b c", "devices", "GPU-1%"], { range: "6h", metric: "", none: undefined }), "http://x"));
  assert.deepEqual(at.path, ["nodes", "a/b c", "devices", "GPU-1%"]);
  assert.equal(at.query.toString(), "range=6h");
  assert.deepEqual(parse(new URL("http://x/console/nodes/%E0%A4%A")).path, ["nodes", "%E0%A4%A"]);
});

test("a filter is words that all fit", () => {
  const n = { node: "sim-h100-03", group: "h100", rack: "r1", zone: "", region: "", vendor: "nvidia", model: "H100", simulated: true, cordoned: false } as Node;
  for (const [text, want] of [["", true], ["h100", true], ["NVIDIA r1", true], ["amd", false], ["-amd nvidia", true], ["-simulated", false], ["simulated", true], ["-", true]] as const) assert.equal(matches(n, wordsOf(text)), want, text);
});

test("answers of look-ups become numbers, texts become categories", () => {
  const out: Values = { nodes: ["a", "b", "c"], values: new Float32Array(3).fill(NaN), status: new Uint8Array(3), times: new Float64Array(3), categories: [], from: "look-up" };
  fill(out, 0, { metadata: { feature_names: ["node", "f"] }, results: [{ values: ["a", "b", "c"], statuses: [], event_timestamps: [] },
    { values: ["x", null, "y"], statuses: ["PRESENT", "OUTSIDE_MAX_AGE", "PRESENT"], event_timestamps: ["2026-03-01T00:00:00Z", "1970-01-01T00:00:00Z", "2026-03-01T00:00:00Z"] }] }, new Map());
  assert.deepEqual([...out.values], [0, NaN, 1]);
  assert.deepEqual([...out.status], [1, 4, 1]);
  assert.deepEqual([...out.times], [1_772_323_200_000, 0, 1_772_323_200_000]);
  assert.deepEqual(out.categories, ["x", "y"]);
});
