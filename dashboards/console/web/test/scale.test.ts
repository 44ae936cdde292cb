import assert from "node:assert/strict";
import { test } from "node:test";
import { colours, histogram, niceUp, rangeOf, step, steps } from "../src/lib/scale";

/** Lightness of CIE L*a*b*, D65. */
function lightness(rgb: string): number {
  const [r, g, b] = rgb.match(/\d+/g)!.map((c) => { const x = Number(c) / 255; return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; }) as [number, number, number];
  const y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return y > 0.008856 ? 116 * Math.cbrt(y) - 16 : 903.3 * y;
}

test("colours change in lightness in even steps, so that they read without hue", () => {
  for (const dark of [true, false]) {
    const l = colours(dark).map((c) => (dark ? 1 : -1) * lightness(c)), each = (l[steps - 1]! - l[0]!) / (steps - 1);
    assert.ok(each > 1, `${each} a step`);
    for (let i = 1; i < l.length; i++) assert.ok(l[i]! > l[i - 1]! && l[i]! - l[i - 1]! < 2 * each, `dark ${dark}, step ${i}: ${l[i - 1]} to ${l[i]}, the mean is ${each}`);
  }
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
