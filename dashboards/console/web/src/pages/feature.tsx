import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { getJSON } from "../lib/api";
import { useFeatures, useNodes } from "../lib/data";
import { isSQL, metricsOf } from "../lib/expr";
import { age, count, plural, seconds, title, unitName, value } from "../lib/format";
import { useAsk } from "../lib/live";
import { valuesOf } from "../lib/matrix";
import type { Feature, Ready } from "../lib/model";
import { curves, featureName } from "../lib/prom";
import { histogram, rangeOf } from "../lib/scale";
import { Status } from "../lib/snapshot";
import { href, type Place } from "../lib/url";
import { Chart } from "../ui/chart";
import { Badge, Empty, Head, Panel, Show, Stat } from "../ui/parts";
import { readiness } from "./freshness";
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
            <Panel title="Definition" note={f.push ? "computed elsewhere" : isSQL(f.expr) ? "SQL, of the whole view" : "PromQL"}>
              {f.push ? <Empty title="Its values are pushed to the API" /> : <pre class="code" tabIndex={0}>{f.expr.trim()}</pre>}
            </Panel>
            <div class="columns">
              <Distribution f={f} />
              <Panel title="Over time" note="median and tenths of all rows">
                {f.dtype === "string" ? <Empty title="A text has no curve" /> : <History f={f} span={range.span} />}
              </Panel>
            </div>
            <div class="columns">
              <Drift f={f} />
              <Lineage f={f} />
            </div>
          </>
        )}
      </Show>
    </div>
  );
}

function Facts({ f }: { f: Feature }): JSX.Element {
  const ready = useAsk<Ready>("ready", readiness, 10_000);
  const state = ready.data?.views.find((v) => v.view === `${f.view}@v${f.version}`);
  const bound = f.min !== undefined && f.max !== undefined ? `${value(f.min, f.unit)} to ${value(f.max, f.unit)}` : f.min !== undefined ? `at least ${value(f.min, f.unit)}` : f.max !== undefined ? `at most ${value(f.max, f.unit)}` : "any";
  return (
    <dl class="stats">
      <Stat label="View" value={<a href={`${href(["features"], { filter: f.view })}`}>{title(f.view)}</a>} note={`version ${f.version}, ${f.tier}`} />
      <Stat label="Of" value={f.join_keys.join(", ")} />
      <Stat label="Type" value={f.dtype} note={unitName(f.unit) || "no unit"} />
      <Stat label="Range" value={bound} note={f.default !== undefined ? `served as ${value(f.default, f.unit)} where there is none` : "served as null where there is none"} />
      <Stat label="Evaluated" value={`every ${seconds(f.interval_seconds)}`} note={`too old after ${seconds(f.ttl_seconds)}`} />
      <Stat label="Newest row" value={state?.age_seconds === undefined ? "none" : `${seconds(Math.round(state.age_seconds))} ago`} note={state ? plural(state.entities, "row") : undefined}
        tone={state?.age_seconds !== undefined && state.age_seconds > f.ttl_seconds ? "warn" : "plain"} />
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

/** Statistics of a feature, where the server keeps them. */
interface Statistics {
  drift?: { psi?: number; ks?: number; since?: string } | null;
}

function Drift({ f }: { f: Feature }): JSX.Element {
  const asked = useAsk(`drift ${f.ref}`, (s) => getJSON<Statistics>(`/v1/views/${encodeURIComponent(f.view)}/statistics?feature=${encodeURIComponent(f.name)}`, s), 0);
  return (
    <Panel title="Drift">
      {asked.data?.drift ? <dl class="quantiles"><div><dt>PSI</dt><dd class="num">{value(asked.data.drift.psi, "")}</dd></div><div><dt>KS</dt><dd class="num">{value(asked.data.drift.ks, "")}</dd></div>{asked.data.drift.since && <div><dt>since</dt><dd>{age(Date.parse(asked.data.drift.since), Date.now())}</dd></div>}</dl>
        : <Empty title={asked.loading ? "Loading…" : "Not available"}>This server keeps no statistics to compare with.</Empty>}
    </Panel>
  );
}

function Lineage({ f }: { f: Feature }): JSX.Element {
  // What the definition itself names is known without asking.
  const metrics = useMemo(() => metricsOf(f.expr), [f.expr]);
  const services = useAsk("services", (s) => getJSON<{ services: { ref: string; features: string[]; owner: string }[] }>("/v1/services", s), 0);
  const used = services.data?.services.filter((s) => s.features.includes(f.ref)) ?? [];
  return (
    <Panel title="Lineage" note="what it is made of, and who reads it">
      <div class="lineage">
        <div><h3>Metrics</h3>{metrics.length === 0 ? <p class="muted">{f.push ? "pushed from outside" : "task events and other views, by SQL"}</p> : <ul>{metrics.map((m) => <li key={m} class="mono wrap">{m}</li>)}</ul>}</div>
        <span class="arrow" aria-hidden="true">→</span>
        <div><h3>View</h3><ul><li><a href={href(["features"], { filter: f.view })}>{f.view}@v{f.version}</a></li></ul></div>
        <span class="arrow" aria-hidden="true">→</span>
        <div><h3>Services</h3>{used.length === 0 ? <p class="muted">no service reads it</p> : <ul>{used.map((s) => <li key={s.ref}>{s.ref}</li>)}</ul>}</div>
      </div>
    </Panel>
  );
}
