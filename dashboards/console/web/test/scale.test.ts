import assert from "node:assert/strict";
import { test } from "node:test";
import { colours, histogram, niceUp, rangeOf, step, steps } from "../src/lib/scale";

/** Lightness of CIE L*a*b*, D65. */
function lightness(rgb: string): number {
  const [r, g, b] = rgb.match(/\d+/g)!.map((c) => { const x = Number(c) / 255; return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; }) as [number, number, number];
  const y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return y > 0.008856 ? 116 * Math.cbrt(y) - 16 : 903.3 * y;
}

test("the ramp grows lighter in even steps, so that it reads without colour", () => {
  const l = colours(true).map(lightness);
  for (let i = 1; i < l.length; i++) assert.ok(l[i]! > l[i - 1]!, `step ${i}: ${l[i - 1]} to ${l[i]}`);
  const each = (l[steps - 1]! - l[0]!) / (steps - 1);
  for (let i = 1; i < l.length; i++) assert.ok(Math.abs(l[i]! - l[i - 1]! - each) < each, `step ${i} is ${l[i]! - l[i - 1]!}, the mean is ${each}`);
  assert.deepEqual([...colours(false)].reverse(), colours(true));
});

test("a range that is defined stands; another is what is seen", () => {
  assert.deepEqual(rangeOf([0.2, 0.4], 0, 1, false), { min: 0, max: 1, fixed: true });
  assert.deepEqual(rangeOf([3, NaN, 437], 0, undefined, false), { min: 0, max: 500, fixed: false });
  assert.deepEqual(rangeOf([NaN], undefined, undefined, false), { min: 0, max: 1, fixed: false });
  assert.deepEqual(rangeOf([5 * 1024 ** 3], 0, undefined, true), { min: 0, max: 5 * 1024 ** 3, fixed: false });
  const same = rangeOf([7, 7], 0, undefined, false);
  assert.ok(same.max > same.min);
});

test("limits read well", () => {
  assert.deepEqual([0.0123, 0.7, 11, 437, 980, 1000].map((v) => niceUp(v, false)), [0.015, 0.8, 15, 500, 1000, 1000]);
});

test("steps and bins hold their ends", () => {
  const r = { min: 0, max: 1, fixed: true };
  assert.deepEqual([step(0, r), step(1, r), step(2, r), step(-1, r), step(NaN, r)], [0, steps - 1, steps - 1, 0, -1]);
  assert.deepEqual(histogram([0, 0.1, 0.5, 1, 2, NaN], r, 2), [2, 3]);
});
