// PromQL over /api/v1/: samples by their own name, features as feature:VIEW:FEATURE.

import { getJSON, postForm } from "./api";

interface Answer<T> {
  status: string;
  data: T;
}

export interface Series {
  labels: Record<string, string>;
  values: (number | null)[]; // by Chart.times
}

export interface Curves {
  times: number[]; // unix s, equal steps
  series: Series[];
  cut: number; // series that were left out
}

/** A label value as PromQL writes it. */
export const quote = (text: string): string => `"${text.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n")}"`;

/** The feature's name in PromQL. */
export const featureName = (view: string, feature: string): string => `feature:${view}:${feature}`;

export const spans: Record<string, number> = { "15m": 900, "1h": 3600, "6h": 21_600, "24h": 86_400, "7d": 604_800 };

/** Seconds from point to point: what a chart can show, in tens. */
export const stepOf = (span: number): number => Math.max(10, Math.ceil(span / 360 / 10) * 10);

const most = 20; // series that a chart can tell apart

export async function curves(query: string, span: number, signal: AbortSignal): Promise<Curves> {
  const step = stepOf(span), end = Math.floor(Date.now() / 1000 / step) * step, start = end - Math.floor(span / step) * step;
  const a = await postForm<Answer<{ result: { metric: Record<string, string>; values?: [number, string][] }[] }>>(
    "/api/v1/query_range", { query, start: String(start), end: String(end), step: String(step) }, signal);
  return align(a.data.result, start, end, step);
}

export function align(result: { metric: Record<string, string>; values?: [number, string][] }[], start: number, end: number, step: number): Curves {
  const n = Math.round((end - start) / step) + 1;
  const times = Array.from({ length: n }, (_, i) => start + i * step);
  const series = result.slice(0, most).map((r) => {
    const values = new Array<number | null>(n).fill(null);
    for (const [t, v] of r.values ?? []) {
      const i = Math.round((t - start) / step), x = Number(v);
      if (i >= 0 && i < n && Number.isFinite(x)) values[i] = x;
    }
    return { labels: r.metric, values };
  });
  return { times, series, cut: Math.max(0, result.length - most) };
}

/** The names of metrics that a selector has, without features. */
export async function metricNames(selector: string, signal: AbortSignal): Promise<string[]> {
  const day = Math.floor(Date.now() / 1000);
  const q = new URLSearchParams({ "match[]": selector, start: String(day - 3600), end: String(day) });
  const a = await getJSON<Answer<string[]>>(`/api/v1/label/__name__/values?${q}`, signal);
  return a.data.filter((n) => !n.startsWith("feature:"));
}

/** What the catalogue says of a metric. */
export async function metadata(metric: string, signal: AbortSignal): Promise<{ type: string; unit: string; help: string } | undefined> {
  const a = await getJSON<Answer<Record<string, { type: string; unit: string; help: string }[]>>>(`/api/v1/metadata?metric=${encodeURIComponent(metric)}`, signal);
  return a.data[metric]?.[0];
}

/** What tells series apart: the labels that differ, or the name. */
export function names(series: readonly Series[], hide: readonly string[]): string[] {
  const keys = new Set(series.flatMap((s) => Object.keys(s.labels)));
  const differ = [...keys].filter((k) => k !== "__name__" && !hide.includes(k) && new Set(series.map((s) => s.labels[k] ?? "")).size > 1).sort();
  const several = new Set(series.map((s) => s.labels["__name__"])).size > 1;
  return series.map((s) => {
    const name = s.labels["__name__"] ?? "";
    const parts = differ.map((k) => s.labels[k] ?? "").filter((v) => v !== "");
    if (several || parts.length === 0) parts.unshift(name.replace(/^feature:[^:]*:/, ""));
    return parts.join(" ").trim() || "value";
  });
}
