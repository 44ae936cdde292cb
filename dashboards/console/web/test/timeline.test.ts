import assert from "node:assert/strict";
import { test } from "node:test";
import type { Task } from "../src/lib/model";
import { axis, pieces } from "../src/lib/timeline";

const at = (s: number): string => new Date(s * 1000).toISOString();

function task(change: Partial<Task>): Task {
  return {
    cluster: "", task: "t", name: "", kind: "", type: "", state: "submitted", tenant: "", queue: "", node: "", devices: null, priority: null, accelerators: 0, cpu_cores: 0, memory_bytes: 0,
    begun: at(0), waiting_from: at(0), scheduled: null, started: null, evicted: null, changed: at(0), ended: false, deadline: null, max_queue_seconds: null, evictions: 0, reason: "", simulated: false, breaks: [], ...change,
  };
}

const bars = (t: Task, now = 100): string => pieces(t, now * 1000).map((p) => `${p.kind} ${p.from / 1000}-${p.to / 1000}${p.open ? "…" : ""}`).join(", ");

test("each life has its bar", () => {
  assert.equal(bars(task({})), "waiting 0-100…");
  assert.equal(bars(task({ state: "started", scheduled: at(10), started: at(15), changed: at(15) })), "waiting 0-10, placed 10-15, running 15-100…");
  assert.equal(bars(task({ state: "finished", scheduled: at(10), started: at(10), changed: at(60), ended: true })), "waiting 0-10, done 10-60");
  assert.equal(bars(task({ state: "failed", scheduled: at(10), started: at(12), changed: at(60), ended: true })), "waiting 0-10, placed 10-12, failed 12-60");
  assert.equal(bars(task({ state: "cancelled", changed: at(40), ended: true })), "waiting 0-40");
  assert.equal(bars(task({ state: "evicted", scheduled: at(10), started: at(10), evicted: at(50), changed: at(50), evictions: 1 })), "waiting 0-10, running 10-50, evicted 50-100…");
});

test("clocks that disagree make no bar of less than nothing", () => {
  for (const p of pieces(task({ state: "finished", waiting_from: at(20), scheduled: at(10), started: at(5), changed: at(4), ended: true }), 100_000)) assert.ok(p.to >= p.from);
});

test("axes have whole times", () => {
  const ticks = axis(Date.UTC(2026, 2, 1, 12, 3), Date.UTC(2026, 2, 1, 13, 3), 6);
  assert.ok(ticks.length >= 4 && ticks.length <= 7);
  for (const t of ticks) assert.equal(t % 600_000, 0);
});
