// Numbers and times as people read them. Units are those of feature views and of the catalogue.

const dash = "–";

/** 3 significant digits, without zeros at the end: 1.5, 0.032, 12. */
function short(v: number): string {
  if (v === 0) return "0";
  const a = Math.abs(v);
  if (a >= 1000) return v.toFixed(0);
  if (a < 0.001) return v.toExponential(1);
  return String(Number(v.toPrecision(3)));
}

function scaled(v: number, base: number, names: readonly string[]): string {
  let x = v, i = 0;
  while (Math.abs(x) >= base && i < names.length - 1) {
    x /= base;
    i++;
  }
  // 1023.9 KiB must not read 1024 KiB.
  if (Math.abs(Number(short(x))) >= base && i < names.length - 1) {
    x /= base;
    i++;
  }
  return `${short(x)} ${names[i]}`.trimEnd();
}

export const bytes = (v: number): string => scaled(v, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]);
export const count = (v: number): string => (Math.abs(v) >= 100_000 ? scaled(v, 1000, ["", "k", "M", "G", "T"]) : Number.isInteger(v) ? v.toLocaleString("en") : short(v));

/** A duration in seconds: 450 ms, 12 s, 3 min, 2 h 5 min, 4 d 3 h. */
export function seconds(v: number): string {
  const a = Math.abs(v);
  if (a === 0) return "0 s";
  if (a < 0.001) return `${short(v * 1e6)} µs`;
  if (a < 1) return `${short(v * 1000)} ms`;
  if (a < 60) return `${short(v)} s`;
  const two = (big: number, name: string, small: number, rest: string): string => {
    const sign = v < 0 ? "−" : "";
    let n = Math.floor(a / big), m = Math.round((a - n * big) / small);
    if (m * small >= big) {
      n++;
      m = 0;
    }
    return `${sign}${n} ${name}${m > 0 ? ` ${m} ${rest}` : ""}`;
  };
  if (a < 3600) return two(60, "min", 1, "s");
  if (a < 86400) return two(3600, "h", 60, "min");
  return two(86400, "d", 3600, "h");
}

/** A value with its unit. NaN and null are a dash: there is no value. */
export function value(v: number | null | undefined, unit: string): string {
  if (v === null || v === undefined || Number.isNaN(v)) return dash;
  if (!Number.isFinite(v)) return v > 0 ? "∞" : "−∞";
  switch (unit) {
    case "ratio": return `${short(Math.round(v * 1000) / 10)} %`;
    case "percent": return `${short(v)} %`;
    case "bytes": return bytes(v);
    case "bytes_per_second": return `${bytes(v)}/s`;
    case "seconds": return seconds(v);
    case "celsius": return `${short(Math.round(v * 10) / 10)} °C`;
    case "watts": return scaled(v, 1000, ["W", "kW", "MW"]);
    case "joules": return scaled(v, 1000, ["J", "kJ", "MJ", "GJ", "TJ"]);
    case "hertz": return scaled(v, 1000, ["Hz", "kHz", "MHz", "GHz"]);
    case "volts": return `${short(v)} V`;
    case "count_per_second": return `${count(v)}/s`;
    case "count": case "none": case "": return count(v);
    default: return `${count(v)} ${unit}`;
  }
}

/** What an axis or a legend calls the unit. */
export function unitName(unit: string): string {
  const names: Record<string, string> = {
    ratio: "%", percent: "%", celsius: "°C", watts: "W", hertz: "Hz", joules: "J", volts: "V",
    bytes: "bytes", bytes_per_second: "bytes/s", seconds: "s", count: "count", count_per_second: "1/s", none: "", "": "",
  };
  return names[unit] ?? unit;
}

/** How long ago, honestly: what is in the future says so. */
export function age(thenMs: number, nowMs: number): string {
  const s = (nowMs - thenMs) / 1000;
  if (s < -1) return `${seconds(Math.round(-s))} ahead`;
  if (s < 1) return "now";
  return `${seconds(Math.round(s))} ago`;
}

const two = (n: number): string => String(n).padStart(2, "0");

/** 14:03:20, in the reader's zone. */
export function clock(ms: number): string {
  const d = new Date(ms);
  return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

/** 2026-03-01 14:03:20, in the reader's zone. */
export function stamp(ms: number): string {
  const d = new Date(ms);
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${clock(ms)}`;
}

const spelt: Record<string, string> = {
  cpu: "CPU", gpu: "GPU", npu: "NPU", io: "I/O", pcie: "PCIe", nic: "NIC", nics: "NICs", numa: "NUMA", rdma: "RDMA", mig: "MIG", sla: "SLA", ecc: "ECC", os: "OS",
};

/** cpu_utilization_1m → CPU utilization 1m: a name to read. */
export function title(name: string): string {
  const words = name.split("_").map((w) => spelt[w] ?? w);
  const first = words[0] ?? "";
  return [first.charAt(0).toUpperCase() + first.slice(1), ...words.slice(1)].join(" ");
}

export const plural = (n: number, one: string, many = one + "s"): string => `${count(n)} ${n === 1 ? one : many}`;
