import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { getJSON } from "../lib/api";
import { useFeatures, useNodes, useViews } from "../lib/data";
import { count, plural, seconds, title, unitName, value } from "../lib/format";
import { useAsk } from "../lib/live";
import { valuesOf } from "../lib/matrix";
import type { Feature, Lineage, Quality, ViewDetail } from "../lib/model";
import { curves, featureName, type Curves } from "../lib/prom";
import { histogram, rangeOf } from "../lib/scale";
import { Status } from "../lib/snapshot";
import { href, type Place } from "../lib/url";
import { Chart } from "../ui/chart";
import { Badge, Empty, Head, Panel, Show, Stat } from "../ui/parts";
import { RangeChoice, rangeOfPlace } from "./range";

export function FeaturePage({ view, feature: name, place }: { view: string; feature: string; place: Place }): JSX.Element {
  const features = useFeatures(), range = rangeOfPlace(place, "6h");
  const f = useMemo(() => features.data?.find((x) => x.name === name && (`${x.view}@v${x.version}` === view || (x.view === view && x.latest))), [features.data, view, name]);
  return (
    <div class="page">
      <Head title={title(name)} back={{ href: href(["features"]), text: "Features" }} note={f?.description} badges={f && <>{!f.latest && <Badge tone="warn">superseded</Badge>}{f.push && <Badge>pushed</Badge>}</>}>
        <RangeChoice name={range.name} standard="6h" />
      </Head>
      <Show asked={features} what="The feature">
        {() => !f ? <section class="panel"><Empty title={`There is no feature ${name} of ${view}`} /></section> : (
          <>
            <Facts f={f} />
            <Definition f={f} />
            <div class="columns">
              <Distribution f={f} />
              <Panel title="Over time" note="median and tenths of all rows">
                {f.dtype === "string" ? <Empty title="A text has no curve" /> : <History f={f} span={range.span} />}
              </Panel>
            </div>
            <LineagePanel f={f} />
            <Drift f={f} />
          </>
        )}
      </Show>
    </div>
  );
}

function Definition({ f }: { f: Feature }): JSX.Element {
  const view = useAsk(`view ${f.view}@v${f.version}`, (s) => getJSON<ViewDetail>(`/v1/views/${encodeURIComponent(`${f.view}@v${f.version}`)}`, s), 0);
  const c = view.data?.features.find((x) => x.name === f.name)?.computed, sql = view.data?.kind === "sql";
  return (
    <Panel title="Definition" note={f.push ? "computed elsewhere" : sql ? "SQL, of the whole view" : "PromQL"}
      actions={c && <>{c.looks_back_seconds > 0 && <Badge>looks back {seconds(c.looks_back_seconds)}</Badge>}<Badge title={c.why ?? ""}>{engines[c.engine] ?? c.engine}</Badge></>}>
      {f.push ? <Empty title="Its values are pushed to the API" /> : <pre class="code" tabIndex={0}>{f.expr.trim()}</pre>}
    </Panel>
  );
}

const engines: Record<string, string> = { compiled: "compiled", reference: "by Prometheus' engine", sql: "in the store", panes: "in the store, from panes", push: "outside" };

function Facts({ f }: { f: Feature }): JSX.Element {
  const views = useViews();
  const state = views.data?.find((v) => v.ref === `${f.view}@v${f.version}`)?.freshness;
  const bound = f.min !== undefined && f.max !== undefined ? `${value(f.min, f.unit)} to ${value(f.max, f.unit)}` : f.min !== undefined ? `at least ${value(f.min, f.unit)}` : f.max !== undefined ? `at most ${value(f.max, f.unit)}` : "any";
  return (
    <dl class="stats">
      <Stat label="View" value={<a href={`${href(["features"], { filter: f.view })}`}>{title(f.view)}</a>} note={`version ${f.version}, ${f.tier}`} />
      <Stat label="Of" value={f.join_keys.join(", ")} />
      <Stat label="Type" value={f.dtype} note={unitName(f.unit) || "no unit"} />
      <Stat label="Range" value={bound} note={f.default !== undefined ? `served as ${value(f.default, f.unit)} where there is none` : "served as null where there is none"} />
      <Stat label="Evaluated" value={`every ${seconds(f.interval_seconds)}`} note={`too old after ${seconds(f.ttl_seconds)}`} />
      <Stat label="Newest row" value={state?.age_seconds === undefined ? "none" : `${seconds(Math.round(state.age_seconds))} ago`} note={state ? plural(state.rows, "row") : undefined}
        tone={state && state.rows > 0 && !state.fresh ? "warn" : "plain"} />
      <Stat label="Owner" value={f.owner || "nobody"} />
    </dl>
  );
}

const bins = 30;

function Distribution({ f }: { f: Feature }): JSX.Element {
  const ofNodes = f.join_keys.length === 1 && f.join_keys[0] === "node";
  const nodes = useNodes(), names = useMemo(() => nodes.data?.nodes.map((n) => n.node) ?? [], [nodes.data]);
  const asked = useAsk(ofNodes && names.length > 0 ? `values ${f.ref} ${names.length}` : null, (s) => valuesOf(f, names, s), 10_000);
  if (!ofNodes) return <Panel title="Distribution"><Empty title="Not available">The distribution over what is in memory is shown for features of nodes. SQL has the others.</Empty></Panel>;
  return (
    <Panel title="Distribution" note="over all nodes, now">
      <Show asked={asked} what="The distribution">
        {(v) => {
          const seen = [...v.values].filter((x, i) => !Number.isNaN(x) && v.status[i] === Status.present);
          if (seen.length === 0) return <Empty title="No node has a value now" />;
          if (v.categories) return <ul class="list">{v.categories.map((c, k) => <li key={c}><span class="wrap">{c || "empty"}</span><b class="num">{count(seen.filter((x) => x === k).length)}</b></li>)}</ul>;
          const r = rangeOf(seen, f.min, f.max, f.unit.startsWith("bytes")), n = histogram(seen, r, bins), top = Math.max(...n);
          const sorted = [...seen].sort((a, b) => a - b), q = (p: number): number => sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))]!;
          const missing = v.values.length - seen.length;
          return (
            <figure class="histogram" aria-label={`Of ${seen.length} nodes, from ${value(sorted[0], f.unit)} to ${value(sorted[sorted.length - 1], f.unit)}, median ${value(q(0.5), f.unit)}`}>
              <svg viewBox={`0 0 ${bins * 10} 100`} preserveAspectRatio="none" aria-hidden="true">{n.map((x, i) => x > 0 && <rect key={i} x={i * 10 + 1} width={8} y={100 - (96 * x) / top} height={(96 * x) / top} rx={1} />)}</svg>
              <figcaption class="ends num"><span>{value(r.min, f.unit)}</span><span>{value(r.max, f.unit)}</span></figcaption>
              <dl class="quantiles">{([["lowest", sorted[0]], ["p10", q(0.1)], ["median", q(0.5)], ["p90", q(0.9)], ["highest", sorted[sorted.length - 1]]] as const).map(([k, x]) => <div key={k}><dt>{k}</dt><dd class="num">{value(x, f.unit)}</dd></div>)}</dl>
              {missing > 0 && <p class="muted small">{plural(missing, "node")} without a value.</p>}
            </figure>
          );
        }}
      </Show>
    </Panel>
  );
}

function History({ f, span }: { f: Feature; span: number }): JSX.Element {
  const name = featureName(f.view, f.name);
  const parts = [["lowest tenth", 0.1], ["median", 0.5], ["highest tenth", 0.9]] as const;
  const query = parts.map(([label, q]) => `label_replace(quantile(${q}, ${name}), "part", "${label}", "", "")`).join(" or ");
  const asked = useAsk(f.latest ? `${query} ${span}` : null, (s) => curves(query, span, s), 60_000);
  if (!f.latest) return <Empty title="Not available">PromQL has the newest version of a view.</Empty>;
  return (
    <Show asked={asked} what="The history">
      {(data) => {
        const series = parts.map(([label]) => data.series.find((s) => s.labels["part"] === label)).filter((s) => s !== undefined);
        return series.length === 0 ? <Empty title="No values in this time" /> : <Chart title={title(f.name)} unit={f.unit} data={{ ...data, series }} names={series.map((s) => s.labels["part"]!)} top={f.max} height={190} />;
      }}
    </Show>
  );
}

/** What was measured of the values by hour, over a week: missing, out of range, drift and skew. */
function Drift({ f }: { f: Feature }): JSX.Element {
  const asked = useAsk(`quality ${f.ref}`, (s) => getJSON<Quality>(`/v1/quality?${new URLSearchParams({
    view: `${f.view}@v${f.version}`, feature: f.name, from: new Date(Date.now() - 7 * 86_400_000).toISOString(),
  })}`, s), 300_000);
  if (asked.error?.missing) return <Panel title="Quality and drift"><Empty title="Not available">This server does not measure its features.</Empty></Panel>;
  return (
    <Panel title="Quality and drift" note="by hour, over a week">
      <Show asked={asked} what="The quality">
        {(q) => {
          const m = q.features[0], hours = q.hours ?? [];
          if (!m || m.hours === 0) return <Empty title="No hour has been measured yet">An hour is measured when all of its ticks are stored.</Empty>;
          const psi = m.psi ?? [], crossed = m.crossed ?? [];
          return (
            <>
              <dl class="quantiles">
                <div><dt>measured</dt><dd class="num">{plural(m.hours, "hour")}</dd></div>
                <div><dt>without a value</dt><dd class="num">{value(m.null_ratio, "ratio")}</dd></div>
                <div><dt>out of range</dt><dd class="num">{value(m.out_of_range_ratio, "ratio")}</dd></div>
                {m.p50 !== null && <div><dt>p5 to p95</dt><dd class="num">{value(m.p05, f.unit)} to {value(m.p95, f.unit)}</dd></div>}
                <div><dt>served otherwise than stored</dt><dd class="num">{m.served > 0 ? value(m.skew_ratio, "ratio") : "not compared"}</dd></div>
                {psi.map((d) => <div key={d.baseline}><dt>drift from {d.baseline}</dt><dd class="num">PSI {value(d.psi, "")} <Badge tone={d.psi > 0.25 ? "bad" : d.psi > 0.1 ? "warn" : "good"}>{d.psi > 0.25 ? "much" : d.psi > 0.1 ? "some" : "none"}</Badge></dd></div>)}
                {psi.length === 0 && <div><dt>drift</dt><dd>there is no baseline</dd></div>}
                {crossed.length > 0 && <div><dt>thresholds crossed</dt><dd class="bad">{crossed.join(", ")}</dd></div>}
              </dl>
              {hours.length > 1 && f.dtype !== "string" && <Chart title="Values by hour" unit={f.unit} data={byHour(hours)} names={["p5", "median", "p95"]} top={f.max} />}
            </>
          );
        }}
      </Show>
    </Panel>
  );
}

/** Hours as curves; those that were not measured are gaps. */
function byHour(hours: NonNullable<Quality["hours"]>): Curves {
  const at = new Map(hours.map((h) => [Date.parse(h.hour) / 1000, h])), times = [...at.keys()].sort((a, b) => a - b);
  const all = Array.from({ length: Math.round((times[times.length - 1]! - times[0]!) / 3600) + 1 }, (_, i) => times[0]! + i * 3600);
  return { times: all, cut: 0, series: (["p05", "p50", "p95"] as const).map((k) => ({ labels: {}, values: all.map((t) => at.get(t)?.[k] ?? null) })) };
}

function LineagePanel({ f }: { f: Feature }): JSX.Element {
  const asked = useAsk(`lineage ${f.ref}`, (s) => getJSON<Lineage>(`/v1/lineage?feature=${encodeURIComponent(f.ref)}`, s), 0);
  return (
    <Panel title="Lineage" note="what it is made of, and who reads it">
      <Show asked={asked} what="The lineage">
        {(l) => (
          <ol class="lineage">
            <li><h3>Exporters</h3><Origins l={l} /></li>
            <li><h3>{(l.reads ?? []).length > 0 ? "Metrics" : "Tables"}</h3>
              {(l.reads ?? []).map((r) => <p key={r.metric} class="mono wrap">{r.metric}</p>)}
              {(l.tables ?? []).map((t) => <p key={t.name} class="mono wrap">{t.view ? <a href={href(["features"], { filter: t.view.split("@")[0] })}>{t.view}</a> : t.name}</p>)}
              {l.kind === "push" && <p class="muted">pushed from outside</p>}
            </li>
            <li><h3>View</h3><p><a href={href(["features"], { filter: f.view })}>{f.view}@v{f.version}</a></p></li>
            <li><h3>Read by</h3>
              {(l.services ?? []).length === 0 ? <p class="muted">no service</p> : l.services!.map((s) => <p key={s.service + s.place} class="wrap">{s.service} <span class="muted">place {s.place}{s.model && `, model ${s.model}`}{s.through && `, through ${s.through}`}</span></p>)}
            </li>
          </ol>
        )}
      </Show>
    </Panel>
  );
}

/** The exporters behind the metrics, each once. */
function Origins({ l }: { l: Lineage }): JSX.Element {
  const by = new Map<string, Set<string>>();
  for (const r of l.reads ?? []) for (const o of r.origins) by.set(o.exporter, (by.get(o.exporter) ?? new Set()).add(o.metric ?? r.metric));
  if (by.size === 0) return <p class="muted">{l.kind === "sql" ? "task events, inventories" : l.kind === "push" ? "none" : "none of the catalogue"}</p>;
  return <>{[...by].slice(0, 8).map(([name, metrics]) => <p key={name}>{name} <span class="muted">{plural(metrics.size, "metric")}</span></p>)}{by.size > 8 && <p class="muted">and {by.size - 8} more</p>}</>;
}
