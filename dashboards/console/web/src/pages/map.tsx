import type { JSX } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError } from "../lib/api";
import { groupings, matches, useFeaturesOf, useNodes, wordsOf } from "../lib/data";
import { age, count, plural, title, unitName, value } from "../lib/format";
import { heightAt, layout, neighbour } from "../lib/layout";
import { pulse, useAsk, useNow } from "../lib/live";
import { serviceOf, valuesOf, type Values } from "../lib/matrix";
import type { Feature, Node } from "../lib/model";
import { colours, histogram, rangeOf, step, steps, type Range } from "../lib/scale";
import { Status } from "../lib/snapshot";
import { adjust, go, href, type Place } from "../lib/url";
import { Icon } from "../ui/icons";
import { Badge, Choice, Empty, Failed, Loading, Select, Simulated, Stale } from "../ui/parts";
import { useTheme } from "../ui/theme";
import { MapView, type Cell, type Look } from "./mapview";

const preferred = ["node_accelerators:busy_mean", "node_monitoring:cpu_utilization_1m"];

/** A node on the map, with the value that colours it. */
export interface Spot {
  node: Node;
  group: string;
  value: number; // NaN: none
  status: number;
  time: number; // unix ms; 0: none
}

export function MapPage({ place }: { place: Place }): JSX.Element {
  const nodes = useNodes(), features = useFeaturesOf("node");
  const wanted = place.query.get("feature") ?? "";
  const feature = useMemo(() => choose(features.data, wanted), [features.data, wanted]);
  const names = useMemo(() => nodes.data?.nodes.map((n) => n.node) ?? [], [nodes.data]);
  const ready = feature !== undefined && names.length > 0;
  const values = useAsk(ready ? `values ${feature.ref} ${names.length}` : null, (s) => valuesOf(feature!, names, s), 10_000);
  useEffect(() => {
    if (!feature) return;
    let here = true;
    serviceOf(feature).then((s) => { if (here && s !== undefined) pulse.start(s); }, () => {}); // without it the page polls
    return () => { here = false; };
  }, [feature]);
  useEffect(() => () => pulse.end(), []);
  const grouping = groupings.find((g) => g.value === place.query.get("by")) ?? groupings[0]!;
  const filter = place.query.get("filter") ?? "", table = place.query.get("view") === "table";
  const spots = useMemo(() => spotsOf(nodes.data?.nodes ?? [], values.data, grouping.of), [nodes.data, values.data, grouping]);

  const failed = nodes.error && !nodes.data ? nodes : features.error && !features.data ? features : undefined;
  return (
    <div class="page map-page">
      <header class="map-head">
        <h1 class="hidden">Cluster map</h1>
        <Select label="Colour" value={feature ? `${feature.view}:${feature.name}` : ""} onChange={(v) => adjust({ feature: v })}
          options={(features.data ?? []).map((f) => ({ value: `${f.view}:${f.name}`, text: title(f.name), group: title(f.view) }))} />
        <Select label="Group" value={grouping.value} options={groupings} onChange={(v) => adjust({ by: v === "group" ? undefined : v })} />
        <Filter text={filter} />
        <Choice label="Show as" value={table ? "table" : "map"} options={[{ value: "map", text: "Map" }, { value: "table", text: "Table" }]}
          onChange={(v) => adjust({ view: v === "map" ? undefined : v })} />
      </header>
      {failed ? <Failed error={failed.error!} what="The cluster" retry={failed.retry} />
        : nodes.data && names.length === 0 ? <Empty title="No node has told of itself yet">An agent sends its node's inventory when it starts, and samples every 10 s.</Empty>
          : !feature || !nodes.data ? <Loading what="the cluster" />
            : <>
              {nodes.data.stale && <Stale error={nodes.error ?? new ApiError(503, "The store does not answer, so inventories stand still")} at={Date.parse(nodes.data.at)} retry={nodes.retry} />}
              {values.error && values.data && <Stale error={values.error} at={values.at} retry={values.retry} />}
              {values.error && !values.data ? <Failed error={values.error} what={`Values of ${title(feature.name)}`} retry={values.retry} />
                : <Cluster feature={feature} values={values.data} spots={spots} filter={filter} table={table} />}
            </>}
    </div>
  );
}

function choose(features: Feature[] | undefined, wanted: string): Feature | undefined {
  if (!features) return undefined;
  const by = (name: string): Feature | undefined => features.find((f) => `${f.view}:${f.name}` === name);
  return by(wanted) ?? preferred.map(by).find((f) => f !== undefined) ?? features[0];
}

/** Nodes by group, then by name: the order of the map. */
export function spotsOf(nodes: readonly Node[], values: Values | undefined, group: (n: Node) => string): Spot[] {
  const at = new Map<string, number>();
  values?.nodes.forEach((n, i) => at.set(n, i));
  const spots = nodes.map((node): Spot => {
    const i = at.get(node.node);
    if (i === undefined || !values) return { node, group: group(node), value: NaN, status: Status.notFound, time: 0 };
    return { node, group: group(node), value: values.values[i]!, status: values.status[i]!, time: values.times[i]! };
  });
  const order = new Intl.Collator("en", { numeric: true });
  return spots.sort((a, b) => order.compare(a.group, b.group) || order.compare(a.node.node, b.node.node));
}

function Filter({ text }: { text: string }): JSX.Element {
  const [typed, type] = useState(text);
  useEffect(() => type(text), [text]);
  return (
    <label class="field grow">
      <span>Filter</span>
      <input type="search" value={typed} placeholder="name, rack, vendor, -not…" spellcheck={false} autocomplete="off"
        onInput={(e) => {
          type(e.currentTarget.value);
          adjust({ filter: e.currentTarget.value.trim() === "" ? undefined : e.currentTarget.value });
        }} />
    </label>
  );
}

function Cluster({ feature, values, spots, filter, table }: { feature: Feature; values: Values | undefined; spots: Spot[]; filter: string; table: boolean }): JSX.Element {
  const binary = feature.unit === "bytes" || feature.unit === "bytes_per_second";
  const shown = useMemo(() => {
    const words = wordsOf(filter);
    return spots.map((s) => matches(s.node, words));
  }, [spots, filter]);
  const range = useMemo(() => {
    if (values?.categories) return { min: 0, max: Math.max(1, values.categories.length), fixed: true };
    return rangeOf(spots.map((s) => s.value), feature.min, feature.max, binary);
  }, [spots, values, feature, binary]);
  const show = (s: Spot): string => textOf(s, feature, values);
  if (table) return <Table spots={spots.filter((_, i) => shown[i])} feature={feature} show={show} range={range} />;
  return (
    <>
      <Canvas spots={spots} shown={shown} feature={feature} range={range} values={values} show={show} />
      <Legend feature={feature} spots={spots} shown={shown} range={range} values={values} />
    </>
  );
}

/** The value of a spot in words. */
function textOf(s: Spot, f: Feature, values: Values | undefined): string {
  if (!values) return "loading";
  if (s.status === Status.outsideMaxAge) return "too old";
  if (s.status === Status.notFound) return "no row";
  if (Number.isNaN(s.value)) return "no value";
  return values.categories ? (values.categories[s.value] ?? "?") : value(s.value, f.unit);
}

/** The step of a spot: -1 without a value, -2 too old. */
function colourOf(s: Spot, r: Range, values: Values | undefined): number {
  if (s.status === Status.outsideMaxAge) return -2;
  if (values?.categories && !Number.isNaN(s.value)) return spread(s.value, values.categories.length);
  return step(s.value, r);
}

/** Places of categories on the ramp, as far apart as they can be. */
const spread = (k: number, of: number): number => Math.round(((k + 0.5) / Math.max(1, of)) * (steps - 1));

function Canvas({ spots, shown, feature, range, values, show }: { spots: Spot[]; shown: boolean[]; feature: Feature; range: Range; values: Values | undefined; show: (s: Spot) => string }): JSX.Element {
  const box = useRef<HTMLDivElement>(null), canvas = useRef<HTMLCanvasElement>(null), view = useRef<MapView>();
  const [room, setRoom] = useState({ width: 0, height: 0 });
  const [tip, setTip] = useState<{ cell: number; x: number; y: number; touch: boolean } | null>(null);
  const [zoomed, setZoomed] = useState(false);
  const theme = useTheme();
  const current = useRef(spots);
  current.current = spots;

  const open = useCallback((cell: number) => {
    const s = current.current[cell];
    if (s) go(href(["nodes", s.node.node]));
  }, []);

  useEffect(() => {
    const v = new MapView(canvas.current!, {
      hover: (cell, x, y) => {
        v.mark(cell);
        setTip(cell < 0 ? null : { cell, x, y, touch: false });
      },
      pick: (cell, touch) => {
        if (!touch) return open(cell);
        v.mark(cell);
        const at = v.place(cell, false);
        setTip({ cell, x: (at?.x ?? 0) + (at?.size ?? 0) / 2, y: (at?.y ?? 0) + (at?.size ?? 0) / 2, touch: true });
      },
      moved: () => {
        setZoomed(v.zoomed > 1.01);
        setTip(null);
      },
    });
    view.current = v;
    return () => v.end();
  }, [open]);

  useLayoutEffect(() => {
    const div = box.current!;
    const measure = (): void => setRoom({ width: div.clientWidth, height: div.clientHeight });
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(div);
    return () => watch.disconnect();
  }, []);

  const groups = useMemo(() => {
    const list: { name: string; count: number }[] = [];
    for (const s of spots) {
      const last = list[list.length - 1];
      if (last?.name === s.group) last.count++;
      else list.push({ name: s.group, count: 1 });
    }
    return list;
  }, [spots]);
  const shape = groups.map((g) => `${g.name}\u0000${g.count}`).join("\u0001");
  // On a phone the page scrolls, so that a finger can tell the cells apart.
  const narrow = room.width > 0 && room.width < 700;
  const tall = useMemo(() => (narrow ? Math.min(1600, heightAt(groups, room.width - 24, 30) + 32) : 0), [shape, narrow, room.width]);
  const plan = useMemo(() => layout(groups, Math.max(80, room.width - (narrow ? 24 : 32)), Math.max(80, room.height - 32)), [shape, room]);

  useEffect(() => {
    if (room.width > 0) view.current?.resize(room.width - (room.width < 700 ? 24 : 32), room.height - (room.width < 700 ? 24 : 32));
  }, [room]);
  useEffect(() => {
    const cells = spots.map((s, i): Cell => ({ colour: values ? colourOf(s, range, values) : -1, dim: !shown[i], simulated: s.node.simulated, cordoned: s.node.cordoned }));
    view.current?.show(plan, cells, notesOf(spots), lookOf(box.current!, theme === "dark"));
  }, [plan, spots, shown, range, values, theme]);

  const marked = tip?.cell ?? -1, spot = spots[marked];
  const onKey = (e: KeyboardEvent): void => {
    const v = view.current!;
    if (e.key === "+" || e.key === "=") v.zoom(1.4);
    else if (e.key === "-") v.zoom(1 / 1.4);
    else if (e.key === "0") v.fit();
    else if (e.key === "Escape") {
      v.mark(-1);
      setTip(null);
    } else if (e.key === "Enter" && marked >= 0) open(marked);
    else if (["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(e.key)) {
      const next = neighbour(plan, v.marked, e.key, spots.length);
      v.mark(next);
      const at = v.place(next, true);
      if (at) setTip({ cell: next, x: at.x + at.size / 2, y: at.y + at.size / 2, touch: false });
    } else return;
    e.preventDefault();
  };
  return (
    <div class="map-box" ref={box} style={tall > 0 ? { minHeight: `${tall}px` } : {}}>
      <canvas ref={canvas} class="map" tabIndex={0} role="application" aria-roledescription="map of nodes" onKeyDown={onKey}
        aria-label={`${plural(spots.length, "node")}, coloured by ${title(feature.name)}. Arrow keys go from node to node, Enter opens one, plus and minus zoom. The table shows the same.`} />
      <div class="hidden" aria-live="polite">{spot ? `${spot.node.node}, ${show(spot)}${spot.node.simulated ? ", simulated" : ""}` : ""}</div>
      {spot && tip && <Tip spot={spot} tip={tip} room={room} text={show(spot)} feature={feature} />}
      <div class="zoom" role="group" aria-label="Zoom">
        <button type="button" class="icon-button" aria-label="Zoom in" onClick={() => view.current?.zoom(1.5)}><Icon name="plus" /></button>
        <button type="button" class="icon-button" aria-label="Zoom out" onClick={() => view.current?.zoom(1 / 1.5)}><Icon name="minus" /></button>
        <button type="button" class="icon-button" aria-label="Show all" disabled={!zoomed} onClick={() => view.current?.fit()}><Icon name="fit" /></button>
      </div>
    </div>
  );
}

/** What stands behind the title of a group: how many, and whether they exist. */
function notesOf(spots: readonly Spot[]): Map<string, string> {
  const all = new Map<string, { n: number; simulated: number }>();
  for (const s of spots) {
    const g = all.get(s.group) ?? { n: 0, simulated: 0 };
    g.n++;
    if (s.node.simulated) g.simulated++;
    all.set(s.group, g);
  }
  return new Map([...all].map(([name, g]) => [name, String(g.n)]));
}

function lookOf(el: HTMLElement, dark: boolean): Look {
  const css = getComputedStyle(el), v = (name: string): string => css.getPropertyValue(name).trim();
  return { ramp: colours(dark), none: v("--cell-none"), old: v("--cell-old"), line: v("--muted"), text: v("--text"), faint: v("--cell-faint"), accent: v("--ring"), warn: v("--warn"), font: v("--font") };
}

function Tip({ spot, tip, room, text, feature }: { spot: Spot; tip: { x: number; y: number; touch: boolean }; room: { width: number; height: number }; text: string; feature: Feature }): JSX.Element {
  const now = useNow(), n = spot.node;
  const width = Math.min(280, room.width - 24), right = tip.x + 34 + width > room.width, low = tip.y + 170 > room.height;
  return (
    <div class={`tip ${tip.touch ? "touch" : ""}`} style={{
      width: `${width}px`, left: `${Math.max(8, Math.min(room.width - width - 8, right ? tip.x - width + 2 : tip.x + 34))}px`,
      ...(low ? { bottom: `${Math.max(8, room.height - tip.y - 2)}px` } : { top: `${tip.y + 30}px` }),
    }}>
      <p class="tip-name">{n.node} {n.simulated && <Simulated />}{n.cordoned && <Badge tone="warn">cordoned</Badge>}</p>
      <p class="tip-value"><b class="num">{text}</b> <span class="muted">{title(feature.name)}</span></p>
      <p class="muted">{[n.accelerators > 0 ? `${n.accelerators} × ${n.model || n.vendor}` : "no accelerators", n.rack && `rack ${n.rack}`, n.zone && `zone ${n.zone}`].filter(Boolean).join(" · ")}</p>
      <p class="muted">{spot.time > 0 ? `value of ${age(spot.time, now)}` : n.seen > 0 ? `seen ${age(n.seen, now)}` : "not seen of late"}</p>
      {tip.touch && <a class="button" href={href(["nodes", n.node])}>Open node</a>}
    </div>
  );
}

const bins = 24;

function Legend({ feature, spots, shown, range, values }: { feature: Feature; spots: Spot[]; shown: boolean[]; range: Range; values: Values | undefined }): JSX.Element {
  const theme = useTheme(), ramp = colours(theme === "dark");
  const seen = spots.filter((_, i) => shown[i]);
  const of = (want: (s: Spot) => boolean): number => seen.filter(want).length;
  const old = of((s) => s.status === Status.outsideMaxAge), simulated = of((s) => s.node.simulated);
  const present = seen.filter((s) => s.status !== Status.outsideMaxAge && !Number.isNaN(s.value)).map((s) => s.value);
  const none = seen.length - present.length - old;
  const counts = histogram(present, range, bins), top = Math.max(1, ...counts);
  const sorted = [...present].sort((a, b) => a - b), q = (p: number): number => sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))] ?? NaN;
  return (
    <footer class="map-legend">
      {values?.categories ? (
        <ul class="swatches">
          {values.categories.slice(0, 12).map((c, k) => <li key={c}><svg width="12" height="12" aria-hidden="true"><rect width="12" height="12" rx="3" fill={ramp[spread(k, values.categories!.length)]} /></svg>{c} <span class="num muted">{of((s) => s.value === k)}</span></li>)}
        </ul>
      ) : (
        <figure class="ramp" aria-label={`Colours from ${value(range.min, feature.unit)} to ${value(range.max, feature.unit)}`}>
          <svg viewBox={`0 0 ${bins * 10} 46`} preserveAspectRatio="none" aria-hidden="true">
            {counts.map((n, i) => n > 0 && <rect key={i} x={i * 10 + 0.5} y={33 - (30 * n) / top - 1} width={9} height={(30 * n) / top + 1} fill={ramp[Math.floor(((i + 0.5) / bins) * steps)]} />)}
            {ramp.map((c, i) => <rect key={c} x={(i * bins * 10) / steps} y={36} width={(bins * 10) / steps + 0.4} height={10} fill={c} />)}
          </svg>
          <figcaption><span class="num">{value(range.min, feature.unit)}</span><span class="muted">{[unitName(feature.unit), range.fixed ? "" : "range as seen"].filter(Boolean).join(", ")}</span><span class="num">{value(range.max, feature.unit)}</span></figcaption>
        </figure>
      )}
      <div class="legend-text">
        <p><b>{title(feature.name)}</b> <span class="muted">{feature.description}</span></p>
        <p class="chips">
          {!values?.categories && present.length > 0 && <span>median <b class="num">{value(q(0.5), feature.unit)}</b></span>}
          {!values?.categories && present.length > 0 && <span>highest <b class="num">{value(sorted[sorted.length - 1], feature.unit)}</b></span>}
          <span><b class="num">{count(present.length)}</b> of {plural(seen.length, "node")} with a value</span>
          {none > 0 && <span><i class="cell none" /> {count(none)} without a value</span>}
          {old > 0 && <span><i class="cell old" /> {count(old)} too old</span>}
          {simulated > 0 && <span><i class="cell sim" /> {simulated === seen.length ? "all" : count(simulated)} simulated</span>}
        </p>
      </div>
    </footer>
  );
}

const page = 200;

function Table({ spots, feature, show, range }: { spots: Spot[]; feature: Feature; show: (s: Spot) => string; range: Range }): JSX.Element {
  const now = useNow(), [shown, more] = useState(page);
  const sorted = useMemo(() => [...spots].sort((a, b) => (Number.isNaN(a.value) ? 1 : 0) - (Number.isNaN(b.value) ? 1 : 0) || b.value - a.value || (a.node.node < b.node.node ? -1 : 1)), [spots]);
  if (sorted.length === 0) return <Empty title="No node is meant by the filter" />;
  return (
    <div class="panel table-box" tabIndex={0} role="group" aria-label="Nodes">
      <table class="table">
        <thead><tr><th scope="col">Node</th><th scope="col" class="right">{title(feature.name)}</th><th scope="col" class="wide-only"><span class="hidden">Share of the range</span></th><th scope="col">Accelerators</th><th scope="col" class="wide-only">Group</th><th scope="col" class="wide-only">Rack</th><th scope="col" class="right">Age</th></tr></thead>
        <tbody>
          {sorted.slice(0, shown).map((s) => (
            <tr key={s.node.node}>
              <td><a href={href(["nodes", s.node.node])}>{s.node.node}</a> {s.node.simulated && <Simulated />}{s.node.cordoned && <Badge tone="warn">cordoned</Badge>}</td>
              <td class="right num">{show(s)}</td>
              <td class="wide-only"><Share value={s.value} range={range} /></td>
              <td>{s.node.accelerators > 0 ? `${s.node.accelerators} × ${s.node.model || s.node.vendor}` : <span class="muted">none</span>}</td>
              <td class="wide-only">{s.group}</td>
              <td class="wide-only">{s.node.rack || <span class="muted">–</span>}</td>
              <td class="right num">{s.time > 0 ? age(s.time, now) : "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown < sorted.length && <button type="button" class="more" onClick={() => more(shown + page)}>Show more: {sorted.length - shown} are left</button>}
    </div>
  );
}

function Share({ value: v, range }: { value: number; range: Range }): JSX.Element {
  const share = Number.isNaN(v) || range.max <= range.min ? 0 : Math.max(0, Math.min(1, (v - range.min) / (range.max - range.min)));
  return <svg class="share" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="6" rx="3" /><rect class="fill" width={100 * share} height="6" rx="3" /></svg>;
}
