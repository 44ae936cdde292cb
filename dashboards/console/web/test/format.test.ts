import assert from "node:assert/strict";
import { test } from "node:test";
import { age, bytes, count, plural, seconds, title, value } from "../src/lib/format";

test("bytes go by 1024 and never read 1024 of a unit", () => {
  assert.deepEqual([0, 1, 1023, 1024, 1536, 1024 ** 2 - 1, 85_520_809_984, 1024 ** 4].map(bytes), ["0 B", "1 B", "1023 B", "1 KiB", "1.5 KiB", "1 MiB", "79.6 GiB", "1 TiB"]);
});

test("durations have two parts at most", () => {
  assert.deepEqual([0, 0.0000123, 0.45, 12, 61, 3599.6, 3725, 86_399, 100_000].map(seconds), ["0 s", "12.3 µs", "450 ms", "12 s", "1 min 1 s", "60 min", "1 h 2 min", "24 h", "1 d 4 h"]);
  assert.equal(seconds(-90), "−1 min 30 s");
});

test("values carry their unit, and no value is a dash", () => {
  const cases: [number | null, string, string][] = [
    [0.7234, "ratio", "72.3 %"], [0, "ratio", "0 %"], [71.44, "celsius", "71.4 °C"], [312.4, "watts", "312 W"], [5400, "watts", "5.4 kW"],
    [50e9, "bytes_per_second", "46.6 GiB/s"], [1.98e9, "hertz", "1.98 GHz"], [NaN, "watts", "–"], [null, "ratio", "–"], [Infinity, "count", "∞"],
    [12_345, "count", "12,345"], [123_456, "count", "123 k"], [3, "none", "3"], [2.5, "count_per_second", "2.5/s"], [7, "threads", "7 threads"],
  ];
  for (const [v, unit, want] of cases) assert.equal(value(v, unit), want, `${v} ${unit}`);
});

test("ages do not hide a clock that is ahead", () => {
  assert.equal(age(1000, 1500), "now");
  assert.equal(age(0, 90_000), "1 min 30 s ago");
  assert.equal(age(65_000, 0), "1 min 5 s ahead");
});

test("names are read aloud", () => {
  assert.equal(title("cpu_utilization_1m"), "CPU utilization 1m");
  assert.equal(title("pcie_bytes_per_second_1m"), "PCIe bytes per second 1m");
  assert.equal(plural(1, "node"), "1 node");
  assert.equal(plural(2, "broken promise", "broken promises"), "2 broken promises");
  assert.equal(count(1_500_000), "1.5 M");
});
