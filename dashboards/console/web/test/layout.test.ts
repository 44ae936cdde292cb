import assert from "node:assert/strict";
import { test } from "node:test";
import { cellAt, cornerOf, layout, neighbour } from "../src/lib/layout";

const some = [{ name: "a", count: 12 }, { name: "b", count: 1 }, { name: "c", count: 30 }];

test("a map fits its room, and no blocks overlap", () => {
  for (const [w, h] of [[1200, 700], [360, 500]] as const) {
    const l = layout(some, w, h);
    assert.ok(l.width <= w && l.height <= h, `${l.width} × ${l.height} in ${w} × ${h}`);
    l.blocks.forEach((a, i) => l.blocks.slice(i + 1).forEach((b) => assert.ok(a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y, `${a.name} on ${b.name}`)));
  }
});

test("10,000 nodes in 250 racks fit a screen", () => {
  const l = layout(Array.from({ length: 250 }, (_, i) => ({ name: `rack-${i}`, count: 40 })), 1400, 20_000);
  assert.equal(l.blocks.reduce((n, b) => n + b.count, 0), 10_000);
  assert.ok(l.pitch >= 4);
});

test("each cell is found where it stands", () => {
  const l = layout(some, 800, 500);
  for (let i = 0; i < 43; i++) {
    const at = cornerOf(l, i)!;
    assert.equal(cellAt(l, at.x + l.pitch / 2, at.y + l.pitch / 2), i);
  }
  assert.equal(cellAt(l, -1, -1), -1);
  assert.equal(cellAt(l, 0, 0), -1); // a title
  assert.equal(cornerOf(l, 43), undefined);
});

test("arrow keys reach every cell and stay on the map", () => {
  const l = layout(some, 800, 500);
  let cell = neighbour(l, -1, "ArrowRight", 43);
  assert.equal(cell, 0);
  for (let i = 1; i < 50; i++) cell = neighbour(l, cell, "ArrowRight", 43);
  assert.equal(cell, 42);
  for (const key of ["ArrowUp", "ArrowDown", "ArrowLeft", "Home", "End"]) for (let i = 0; i < 43; i++) assert.ok(cornerOf(l, neighbour(l, i, key, 43)), `${key} from ${i}`);
  const first = l.blocks[0]!;
  assert.equal(neighbour(l, 0, "ArrowDown", 43), first.columns < 12 ? first.columns : 12);
  assert.equal(neighbour(l, first.columns, "ArrowUp", 43), 0);
});
