import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { clock, stamp, value } from "../lib/format";
import type { Curves } from "../lib/prom";
import { useTheme } from "./theme";

interface Props {
  title: string;
  unit: string;
  data: Curves;
  names: string[];
  zero?: boolean; // the axis begins at 0
  top?: number | undefined; // and ends here
  height?: number;
}

/** Curves over time, with what they are at the cursor, or last, written above. */
export function Chart({ title, unit, data, names, zero = true, top, height = 150 }: Props): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>();
  const [at, setAt] = useState<number | null>(null);
  const theme = useTheme();
  const shape = `${names.join("\u0000")}|${unit}|${zero}|${top}|${theme}`;
  const columns = useMemo(() => [data.times, ...data.series.map((s) => s.values)] as uPlot.AlignedData, [data]);

  useEffect(() => {
    const div = box.current;
    if (!div) return;
    const css = getComputedStyle(div), v = (name: string): string => css.getPropertyValue(name).trim();
    const axis = { stroke: v("--muted"), font: `11px ${v("--font")}`, grid: { stroke: v("--grid"), width: 1 }, ticks: { show: false } };
    const u = new uPlot({
      width: Math.max(100, div.clientWidth), height, padding: [8, 6, 0, 0], legend: { show: false },
      cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
      scales: { x: { time: true }, y: { range: (_u, lo, hi) => axisRange(lo, hi, zero, top) } },
      axes: [
        { ...axis, size: 26, space: 70, values: (_u, ticks) => ticks.map((t, i) => tick(t, ticks[i + 1] ?? ticks[i - 1] ?? t)) },
        { ...axis, size: 62, gap: 6, space: 34, ...stepsOf(unit), values: (_u, ticks) => ticks.map((t) => value(t, unit)) },
      ],
      series: [{}, ...names.map((label, i) => ({
        label, stroke: v(`--c${i % 8}`), width: 1.6, points: { show: false }, ...(names.length === 1 ? { fill: v("--c0-fill") } : {}),
      }))],
      hooks: { setCursor: [(p) => setAt(p.cursor.idx ?? null)] },
    }, columns, div);
    plot.current = u;
    const watch = new ResizeObserver(() => u.setSize({ width: Math.max(100, div.clientWidth), height }));
    watch.observe(div);
    return () => {
      watch.disconnect();
      u.destroy();
      plot.current = undefined;
    };
  }, [shape, height]);

  useEffect(() => plot.current?.setData(columns), [columns]);

  const shown = data.series.map((s) => (at !== null ? (s.values[at] ?? null) : last(s.values)));
  const when = at !== null && data.times[at] !== undefined ? clock(data.times[at]! * 1000) : "";
  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-title">{title}</span>
        {when !== "" && <time class="muted num">{when}</time>}
        {names.length === 1 && <span class="num chart-value">{value(shown[0], unit)}</span>}
      </figcaption>
      <div ref={box} class="plot" role="img" aria-label={summary(title, unit, data, names)} />
      {names.length > 1 && (
        <ul class="legend">
          {names.map((n, i) => <li key={n + i}><i class={`dot c${i % 8}`} /><span class="clip" title={n}>{n}</span> <span class="num muted">{value(shown[i], unit)}</span></li>)}
        </ul>
      )}
      {data.cut > 0 && <p class="muted small">{data.cut} more series are not drawn.</p>}
    </figure>
  );
}

/** Ticks that read well in the unit: minutes and hours, powers of two. */
function stepsOf(unit: string): { incrs?: number[] } {
  if (unit === "seconds") return { incrs: [...[1, 2, 5].flatMap((m) => [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1].map((p) => m * p)), 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400, 172_800, 604_800, 2_592_000, 31_536_000].sort((a, b) => a - b) };
  if (unit === "bytes" || unit === "bytes_per_second") return { incrs: Array.from({ length: 60 }, (_, i) => 2 ** i) };
  return {};
}

function axisRange(lo: number | null, hi: number | null, zero: boolean, top: number | undefined): [number, number] {
  if (lo === null || hi === null || lo === undefined || hi === undefined) return [0, top ?? 1];
  const from = zero ? Math.min(0, lo) : lo, room = (hi - from) * 0.08;
  if (top !== undefined && hi <= top) return [from, top];
  return hi > from ? [zero ? from : from - room, hi + room] : [from - (zero ? 0 : 1), from === 0 ? 1 : hi + Math.abs(hi) * 0.1 + (zero ? 0 : 1)];
}

/** 14:05, or 14:05:30 where ticks are closer than a minute, or 3/12 where they are days apart. */
function tick(t: number, next: number): string {
  const d = new Date(t * 1000), gap = Math.abs(next - t);
  if (gap >= 86_400) return `${d.getDate()}/${d.getMonth() + 1}`;
  return gap < 60 && gap > 0 ? clock(t * 1000) : clock(t * 1000).slice(0, 5);
}

function last(values: readonly (number | null)[]): number | null {
  for (let i = values.length - 1; i >= 0; i--) if (values[i] !== null) return values[i] ?? null;
  return null;
}

/** What a reader who does not see the curves hears. */
function summary(title: string, unit: string, data: Curves, names: readonly string[]): string {
  const from = data.times[0], to = data.times[data.times.length - 1];
  const span = from !== undefined && to !== undefined ? ` from ${stamp(from * 1000)} to ${stamp(to * 1000)}` : "";
  const parts = data.series.slice(0, 6).map((s, i) => {
    const seen = s.values.filter((x): x is number => x !== null);
    if (seen.length === 0) return `${names[i]}: no values`;
    return `${names[i]}: last ${value(last(s.values), unit)}, lowest ${value(Math.min(...seen), unit)}, highest ${value(Math.max(...seen), unit)}`;
  });
  return `${title}${span}. ${parts.join(". ")}`;
}
