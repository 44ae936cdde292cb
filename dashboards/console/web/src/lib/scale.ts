// Colours of values. Lightness alone tells them apart, so they read without red or green: on a
// dark ground viridis, on a light one from pale green to dark blue. A low value is near the
// ground, and a high one stands out.

type Stops = readonly (readonly [number, number, number])[];

const viridis: Stops = [
  [68, 1, 84], [72, 26, 108], [71, 47, 125], [65, 68, 135], [57, 86, 140], [49, 104, 142], [42, 120, 142], [35, 136, 142],
  [31, 152, 139], [34, 168, 132], [53, 183, 121], [84, 197, 104], [122, 209, 81], [165, 219, 54], [210, 226, 27], [253, 231, 37],
];

const greenToBlue: Stops = [[199, 233, 180], [127, 205, 187], [65, 182, 196], [29, 145, 192], [34, 94, 168], [37, 52, 148], [8, 29, 88]];

/** How many colours a map has: fewer fills, and no eye tells more apart. */
export const steps = 48;

const ramp = (stops: Stops): readonly string[] => Array.from({ length: steps }, (_, i) => {
  const x = (i / (steps - 1)) * (stops.length - 1), k = Math.min(Math.floor(x), stops.length - 2), f = x - k;
  const a = stops[k]!, b = stops[k + 1]!;
  return `rgb(${[0, 1, 2].map((c) => Math.round(a[c]! + (b[c]! - a[c]!) * f)).join(" ")})`;
});

/** The colours from low to high. */
export const colours = (dark: boolean): readonly string[] => (dark ? onDark : onLight);
const onDark = ramp(viridis), onLight = ramp(greenToBlue);

export interface Range {
  min: number;
  max: number;
  fixed: boolean; // by the definition, and not by what is seen
}

/** The step of a value, or -1 where there is none. */
export function step(v: number, r: Range): number {
  if (Number.isNaN(v)) return -1;
  if (r.max <= r.min) return steps >> 1;
  return Math.max(0, Math.min(steps - 1, Math.floor(((v - r.min) / (r.max - r.min)) * steps)));
}

/**
 * The range that colours span: that of the definition where it has both ends; else what is
 * seen, from 0 where the feature cannot be negative, rounded up to a number that reads well.
 */
export function rangeOf(values: ArrayLike<number>, min: number | undefined, max: number | undefined, binary: boolean): Range {
  if (min !== undefined && max !== undefined) return { min, max, fixed: true };
  let lo = Infinity, hi = -Infinity;
  for (let i = 0; i < values.length; i++) {
    const v = values[i]!;
    if (!Number.isFinite(v)) continue;
    if (v < lo) lo = v;
    if (v > hi) hi = v;
  }
  if (lo > hi) return { min: min ?? 0, max: max ?? 1, fixed: false };
  const from = min !== undefined && (min === 0 ? lo < hi / 2 || lo === hi : true) ? min : niceDown(lo, binary);
  const to = max ?? niceUp(hi, binary);
  return to > from ? { min: from, max: to, fixed: false } : { min: from, max: from + 1, fixed: false };
}

/** The next 1, 2, 2.5 or 5 times a power; for bytes, a power of 1024 takes the place of 1000. */
export function niceUp(v: number, binary: boolean): number {
  if (v === 0) return 0;
  if (v < 0) return -niceDown(-v, binary);
  const unit = binary ? 1024 ** Math.max(0, Math.floor(Math.log(v) / Math.log(1024))) : 1;
  const x = v / unit, p = 10 ** Math.floor(Math.log10(x));
  for (const m of [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10]) if (m * p >= x * (1 - 1e-12)) return m * p * unit;
  return 10 * p * unit;
}

function niceDown(v: number, binary: boolean): number {
  if (v === 0) return 0;
  if (v < 0) return -niceUp(-v, binary);
  const unit = binary ? 1024 ** Math.max(0, Math.floor(Math.log(v) / Math.log(1024))) : 1;
  const x = v / unit, p = 10 ** Math.floor(Math.log10(x));
  let best = p;
  for (const m of [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8]) if (m * p <= x * (1 + 1e-12)) best = m * p;
  return best * unit;
}

/** Counts of values in equal bins over the range; what lies outside is in the end bins. */
export function histogram(values: ArrayLike<number>, r: Range, bins: number): number[] {
  const out = new Array<number>(bins).fill(0);
  for (let i = 0; i < values.length; i++) {
    const v = values[i]!;
    if (Number.isNaN(v)) continue;
    const k = r.max > r.min ? Math.floor(((v - r.min) / (r.max - r.min)) * bins) : 0;
    out[Math.max(0, Math.min(bins - 1, k))]!++;
  }
  return out;
}
