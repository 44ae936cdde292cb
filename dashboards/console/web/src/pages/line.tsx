import type { ComponentChildren, JSX } from "preact";
import { getJSON } from "../lib/api";
import { age, bytes, clock, count, plural, seconds, stamp } from "../lib/format";
import { useAsk, useNow } from "../lib/live";
import type { Flow, Ledger, Line, Ready } from "../lib/model";
import type { Curves } from "../lib/prom";
import { Chart } from "../ui/chart";
import { Badge, Empty, Head, Panel, Show, type Tone } from "../ui/parts";
import { readiness } from "./freshness";

export function LinePage(): JSX.Element {
  const line = useAsk("line", (s) => getJSON<Line>("/v1/line", s), 10_000);
  const ledger = useAsk("ledger", (s) => getJSON<Ledger>("/v1/line/ledger", s), 60_000);
  const ready = useAsk<Ready>("ready", readiness, 5_000);
  return (
    <div class="page">
      <Head title="Line" note="How telemetry flows from the exporters to what is served, and that nothing is lost on the way" />
      <Show asked={line} what="The line">
        {(l) => (
          <>
            <Steps l={l} ledger={ledger.data} ready={ready.data} />
            <section class="charts two" aria-label="Flow over time">
              <Chart title="Samples stored" unit="count_per_second" data={flow(l.flow, [(f) => f.samples / 10])} names={["samples"]} />
              <Chart title="Records" unit="count_per_second" data={flow(l.flow, [(f) => f.records / 10])} names={["records"]} />
              <Chart title="From scrape to Kafka" unit="seconds" data={flow(l.flow, [(f) => f.transport_p50, (f) => f.transport_p99])} names={["median", "99 of 100"]} />
              <Chart title="From Kafka to ClickHouse" unit="seconds" data={flow(l.flow, [(f) => f.storage_p50, (f) => f.storage_p99])} names={["median", "99 of 100"]} />
            </section>
            <Panel title="Balance" note={ledger.data ? `of ${clock(Date.parse(ledger.data.at))}, over all that is kept` : "over all that is kept"}>
              <Show asked={ledger} what="The balance">{(b) => <Balance b={b} />}</Show>
            </Panel>
            <div class="columns">
              <Views ready={ready.data} />
              <Tables l={l} />
            </div>
            <Panel title="Records that could not be read" note="over a day">
              {l.dead.length === 0 ? <Empty title="There were none" /> : (
                <ul class="list">{l.dead.map((d) => <li key={d.topic + d.reason}><time class="muted num">{age(Date.parse(d.last), Date.now())}</time><Badge tone="bad">{count(d.records)}</Badge><span class="wrap">{d.topic}: {d.reason}</span></li>)}</ul>
              )}
            </Panel>
          </>
        )}
      </Show>
    </div>
  );
}

/** Flow as curves. The newest 20 s are still coming in and are left out. */
function flow(list: readonly Flow[], of: readonly ((f: Flow) => number)[]): Curves {
  const last = list[list.length - 1]?.time ?? 0, first = list[0]?.time ?? 0, n = Math.max(0, Math.round((last - first) / 10_000) - 1);
  const times = Array.from({ length: n }, (_, i) => first / 1000 + i * 10), by = new Map(list.map((f) => [f.time, f]));
  return { times, cut: 0, series: of.map((get) => ({ labels: {}, values: times.map((t) => { const f = by.get(t * 1000); return f ? get(f) : null; }) })) };
}

/** What flowed over the last whole minute that is surely in. */
function recent(l: Line): { records: number; samples: number; transport: number; storage: number; late: number } {
  const end = Date.parse(l.at) - 20_000, of = l.flow.filter((f) => f.time > end - 60_000 && f.time <= end);
  const sum = (get: (f: Flow) => number): number => of.reduce((a, f) => a + get(f), 0), span = Math.max(10, of.length * 10);
  const worst = (get: (f: Flow) => number): number => Math.max(0, ...of.map(get));
  return { records: sum((f) => f.records) / span, samples: sum((f) => f.samples) / span, transport: worst((f) => f.transport_p99), storage: worst((f) => f.storage_p99), late: l.flow.reduce((a, f) => a + f.late, 0) };
}

function Steps({ l, ledger, ready }: { l: Line; ledger: Ledger | undefined; ready: Ready | undefined }): JSX.Element {
  const now = useNow(), r = recent(l), c = l.collectors;
  const ages = ready?.views.map((v) => v.age_seconds).filter((a): a is number => a !== undefined) ?? [];
  const ticks = ages.length > 0 ? Math.min(...ages) : undefined;
  const lag = Math.max(0, ...l.partitions.map((p) => p.lag_seconds));
  const repeated = l.flow.reduce((a, f) => a + f.repeated, 0), dead = l.dead.reduce((a, d) => a + d.records, 0);
  const stored = l.tables.find((t) => t.table === "samples" || t.table === "samples_local"), all = l.tables.reduce((a, t) => a + t.bytes, 0);
  const scraped = c.newest_scrape === null ? undefined : (now - Date.parse(c.newest_scrape)) / 1000;
  return (
    <ol class="steps" aria-label="Steps of the line">
      <Step n="①" name="Collectors" state={scraped === undefined ? "bad" : scraped > 60 ? "bad" : c.failed > 0 ? "warn" : "good"} facts={[
        ["rate", `${count(r.records)} scrapes/s`], ["nodes", count(c.nodes)], ["targets", count(c.targets)],
        ["newest scrape", scraped === undefined ? "none" : `${seconds(Math.max(0, Math.round(scraped)))} ago`],
        ["failed", count(c.failed), c.failed > 0 ? "warn" : undefined], ["partial", count(c.partial), c.partial > 0 ? "warn" : undefined],
        ["waiting to be sent", ledger ? count(ledger.pending) : "…", ledger && ledger.pending > 0 ? "warn" : undefined],
        ["given up", ledger ? count(ledger.dropped) : "…", ledger && ledger.dropped > 0 ? "bad" : undefined],
      ]} />
      <Step n="②" name="Kafka" state={r.transport > 10 ? "warn" : "good"} facts={[
        ["rate", `${count(r.records)} records/s`], ["partitions", count(l.partitions.length)], ["lag, 99 of 100", seconds(r.transport)],
        ["lost", ledger ? count(ledger.lost) : "…", ledger ? (ledger.lost > 0 ? "bad" : "good") : undefined], ["sent again", ledger ? count(ledger.resent) : "…"],
      ]} />
      <Step n="③" name="Pipeline" state={dead > 0 ? "bad" : ticks !== undefined && ticks > 60 ? "warn" : "good"} facts={[
        ["rate", `${count(r.samples)} samples/s`], ["newest tick", ticks === undefined ? "none" : `${seconds(Math.round(ticks))} ago`],
        ["late samples", count(r.late), undefined], ["repeated samples", count(repeated)], ["unreadable", count(dead), dead > 0 ? "bad" : "good"],
      ]} />
      <Step n="④" name="ClickHouse" state={r.storage > 30 ? "warn" : "good"} facts={[
        ["rate", `${count(r.samples)} rows/s`], ["lag, 99 of 100", seconds(r.storage)], ["newest lag", seconds(lag)],
        ["lost", ledger ? count(ledger.missing) : "…", ledger ? (ledger.missing > 0 ? "bad" : "good") : undefined], ["duplicate", ledger ? count(ledger.duplicate) : "…", ledger ? (ledger.duplicate > 0 ? "bad" : "good") : undefined],
        ["samples", stored ? count(stored.rows) : "–"], ["on disk", bytes(all)],
      ]} />
      <Step n="⑤" name="Serving" state={ready === undefined ? "plain" : ready.status === "ready" ? "good" : "bad"} facts={[
        ["state", ready?.status ?? "…", ready ? (ready.status === "ready" ? "good" : "bad") : undefined],
        ["views", ready ? count(ready.views.length) : "…"], ["rows in memory", ready ? count(ready.views.reduce((a, v) => a + v.entities, 0)) : "…"],
        ["newest row", ticks === undefined ? "none" : `${seconds(Math.round(ticks))} ago`],
        ["oldest view", ages.length > 0 ? `${seconds(Math.round(Math.max(...ages)))} ago` : "–"],
      ]} />
    </ol>
  );
}

function Step({ n, name, state, facts }: { n: string; name: string; state: Tone; facts: readonly (readonly [string, string, (Tone | undefined)?])[] }): JSX.Element {
  const words: Record<Tone, string> = { good: "well", warn: "look", bad: "broken", plain: "not known", accent: "" };
  const [main, ...rest] = facts;
  return (
    <li class={`step ${state}`}>
      <header><span class="step-n" aria-hidden="true">{n}</span><h2>{name}</h2><Badge tone={state}>{words[state]}</Badge></header>
      {main && <p class="step-rate num" title={main[0]}>{main[1]}</p>}
      <dl>{rest.map(([k, v, tone]) => <div key={k}><dt>{k}</dt><dd class={`num ${tone ?? ""}`}>{v}</dd></div>)}</dl>
    </li>
  );
}

function Balance({ b }: { b: Ledger }): JSX.Element {
  const whole = b.lost === 0 && b.missing === 0 && b.duplicate === 0;
  const rows: readonly (readonly [string, ComponentChildren])[] = [
    [`Of ${plural(b.agents, "agent")}`, <>{count(b.received)} records came. {b.lost === 0 ? "None is lost" : <b class="bad">{count(b.lost)} are lost</b>}, {count(b.pending)} wait with their agents, {count(b.dropped)} were given up and told of, {count(b.resent)} came again and are stored once.</>],
    ["Of their samples", <>{b.expected.toLocaleString("en")} were claimed when {b.visible.toLocaleString("en")} were found. {b.missing === 0 ? "None is missing" : <b class="bad">{count(b.missing)} are missing</b>}, {b.duplicate === 0 ? "none is double" : <b class="bad">{count(b.duplicate)} are double</b>}.</>],
  ];
  return (
    <div class="balance">
      <p class={`verdict ${whole ? "good" : "bad"}`}>{whole ? "Nothing is lost, nothing is double" : "The ledger does not balance"}</p>
      <dl>{rows.map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>
    </div>
  );
}

function Views({ ready }: { ready: Ready | undefined }): JSX.Element {
  return (
    <Panel title="Views in memory">
      {!ready ? <Empty title="Loading…" /> : (
        <table class="table">
          <thead><tr><th scope="col">View</th><th scope="col" class="right">Rows</th><th scope="col" class="right">Newest tick</th></tr></thead>
          <tbody>{ready.views.map((v) => <tr key={v.view}><td class="wrap">{v.view}</td><td class="right num">{count(v.entities)}</td><td class="right num">{v.age_seconds === undefined ? <span class="muted">none</span> : `${seconds(Math.round(v.age_seconds))} ago`}</td></tr>)}</tbody>
        </table>
      )}
    </Panel>
  );
}

function Tables({ l }: { l: Line }): JSX.Element {
  return (
    <Panel title="Tables" note={`as of ${stamp(Date.parse(l.at)).slice(11)}`}>
      <table class="table">
        <thead><tr><th scope="col">Table</th><th scope="col" class="right">Rows</th><th scope="col" class="right">On disk</th></tr></thead>
        <tbody>{l.tables.filter((t) => t.rows > 0).slice(0, 16).map((t) => <tr key={t.table}><td class="wrap">{t.table}</td><td class="right num">{count(t.rows)}</td><td class="right num">{bytes(t.bytes)}</td></tr>)}</tbody>
      </table>
    </Panel>
  );
}
