import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { getJSON } from "../lib/api";
import { bytes, clock, count, plural, seconds, stamp, title } from "../lib/format";
import { useAsk } from "../lib/live";
import type { Task, Tasks } from "../lib/model";
import { axis, pieces } from "../lib/timeline";
import { adjust, href, type Place } from "../lib/url";
import { Badge, Empty, Head, Panel, Select, Show, Simulated, Stat } from "../ui/parts";
import { RangeChoice, rangeOfPlace } from "./range";
import { StateBadge, stateText } from "./taskparts";

const states = ["submitted", "queued", "scheduled", "started", "evicted", "cancelled", "failed", "finished"];
const most = 500; // tasks of an answer
const first = 60; // of them, on the page before somebody asks for more

export function TasksPage({ place }: { place: Place }): JSX.Element {
  const range = rangeOfPlace(place), get = (k: string): string => place.query.get(k) ?? "";
  const filter = { state: get("state"), tenant: get("tenant"), queue: get("queue"), node: get("node") };
  const asked = useAsk(`tasks ${range.span} ${Object.values(filter).join("\u0000")}`, (s) => {
    const to = Date.now(), q = new URLSearchParams({ from: new Date(to - range.span * 1000).toISOString(), to: new Date(to).toISOString(), limit: String(most) });
    for (const [k, v] of Object.entries(filter)) if (v !== "") q.set(k, v);
    return getJSON<Tasks>(`/v1/tasks?${q}`, s);
  }, 10_000);
  const [known, learn] = useState<{ tenants: string[]; queues: string[] }>({ tenants: [], queues: [] });
  const options = useMemo(() => {
    const list = asked.data?.tasks ?? [];
    const join = (old: string[], now: string[], chosen: string): string[] => [...new Set([...old, ...now, chosen])].filter((x) => x !== "").sort();
    const next = { tenants: join(known.tenants, list.map((t) => t.tenant), filter.tenant), queues: join(known.queues, list.map((t) => t.queue), filter.queue) };
    if (next.tenants.length !== known.tenants.length || next.queues.length !== known.queues.length) learn(next);
    return next;
  }, [asked.data, known, filter.tenant, filter.queue]);
  const any = Object.values(filter).some((v) => v !== "");
  const pick = (k: string) => (v: string): void => adjust({ [k]: v });
  const all = (text: string, values: readonly string[], name = (v: string): string => v): { value: string; text: string }[] => [{ value: "", text }, ...values.map((v) => ({ value: v, text: name(v) }))];
  return (
    <div class="page">
      <Head title="Tasks" note="What waited, ran and ended, and which promises were broken">
        <RangeChoice name={range.name} />
      </Head>
      <div class="filters" role="search" aria-label="Tasks">
        <Select label="State" value={filter.state} options={all("any state", states, stateText)} onChange={pick("state")} />
        <Select label="Tenant" value={filter.tenant} options={all("any tenant", options.tenants)} onChange={pick("tenant")} />
        <Select label="Queue" value={filter.queue} options={all("any queue", options.queues)} onChange={pick("queue")} />
        {filter.node !== "" && <button type="button" class="chip" onClick={() => adjust({ node: undefined })} aria-label={`Only on ${filter.node}: take away`}>on {filter.node} ✕</button>}
        {any && <button type="button" onClick={() => adjust({ state: undefined, tenant: undefined, queue: undefined, node: undefined })}>Clear</button>}
      </div>
      <Show asked={asked} what="Tasks">
        {(data) => data.tasks.length === 0
          ? <section class="panel"><Empty title={any ? "No task is meant by the filter" : "No task lived in this time"}>{any ? "Take a part of it away, or look at a longer time." : "Schedulers tell of tasks through sextant watch kubernetes, sextant ingest, or the topic tasks."}</Empty></section>
          : <Timeline data={data} />}
      </Show>
    </div>
  );
}

function Timeline({ data }: { data: Tasks }): JSX.Element {
  const from = Date.parse(data.from), to = Date.parse(data.to);
  const [open, setOpen] = useState<string | null>(null), [rows, more] = useState(first);
  const ticks = axis(from, to, 6), at = (t: number): number => (100 * (Math.max(from, Math.min(to, t)) - from)) / (to - from);
  const of = (want: (t: Task) => boolean): number => data.tasks.filter(want).length;
  const broken = data.tasks.reduce((n, t) => n + t.breaks.length, 0);
  return (
    <>
      <dl class="stats">
        <Stat label="Waiting" value={count(of((t) => t.state === "submitted" || t.state === "queued"))} />
        <Stat label="Running" value={count(of((t) => t.state === "started" || t.state === "scheduled"))} />
        <Stat label="Finished" value={count(of((t) => t.state === "finished"))} />
        <Stat label="Failed or evicted" value={count(of((t) => t.state === "failed" || t.state === "evicted"))} />
        <Stat label="Broken promises" value={count(broken)} tone={broken > 0 ? "bad" : "plain"} />
      </dl>
      <Panel title="Timeline" note={data.more ? `the ${count(data.tasks.length)} that changed last; filter to see others` : plural(data.tasks.length, "task")}>
        <ul class="key" aria-label="What the bars mean">
          {(["waiting", "placed", "running", "done", "failed", "evicted"] as const).map((k) => <li key={k}><i class={`bar ${k}`} />{({ waiting: "waiting", placed: "placed, not started", running: "running", done: "finished", failed: "failed or cancelled", evicted: "evicted, waits again" })[k]}</li>)}
          <li><i class="break" />promise broken</li>
          <li><i class="due" />deadline</li>
        </ul>
        <div class="timeline">
          <div class="row axis" aria-hidden="true"><span /><span class="lane">{ticks.map((t) => <span key={t} class="tick num" style={{ left: `${at(t)}%` }}>{to - from > 2 * 86_400_000 ? stamp(t).slice(5, 10) : clock(t).slice(0, 5)}</span>)}</span></div>
          {data.tasks.slice(0, rows).map((t) => {
            const id = `${t.cluster}/${t.task}`;
            return (
              <div key={id} class={`task ${open === id ? "open" : ""}`}>
                <button type="button" class="row" aria-expanded={open === id} onClick={() => setOpen(open === id ? null : id)}>
                  <span class="name"><span class="clip" title={t.name || t.task}>{t.name || t.task}</span><span class="muted clip">{[t.tenant, t.queue].filter(Boolean).join(" · ")}</span></span>
                  <span class="lane" aria-hidden="true">
                    {ticks.map((x) => <i key={x} class="grid" style={{ left: `${at(x)}%` }} />)}
                    {pieces(t, to).filter((p) => p.to >= from && p.from <= to).map((p) => <i key={p.kind + p.from} class={`bar ${p.kind} ${p.open ? "goes-on" : ""}`} style={{ left: `${at(p.from)}%`, width: `max(3px, ${at(p.to) - at(p.from)}%)` }} />)}
                    {t.deadline !== null && Date.parse(t.deadline) >= from && Date.parse(t.deadline) <= to && <i class="due" style={{ left: `${at(Date.parse(t.deadline))}%` }} />}
                    {t.breaks.filter((b) => Date.parse(b.time) >= from && Date.parse(b.time) <= to).map((b) => <i key={b.kind} class="break" style={{ left: `${at(Date.parse(b.time))}%` }} title={`${title(b.kind)} broken`} />)}
                  </span>
                  <span class="end"><StateBadge state={t.state} /><span class="hidden">{spoken(t)}</span></span>
                </button>
                {open === id && <Details t={t} />}
              </div>
            );
          })}
        </div>
        {rows < data.tasks.length && <button type="button" class="more" onClick={() => more(rows + first)}>Show more: {count(data.tasks.length - rows)} are left</button>}
      </Panel>
    </>
  );
}

/** What the bar shows, in words. */
const spoken = (t: Task): string => `${t.node ? ` on ${t.node}` : ""}${t.breaks.length > 0 ? `, ${plural(t.breaks.length, "broken promise", "broken promises")}` : ""}`;

function Details({ t }: { t: Task }): JSX.Element {
  const at = (s: string | null): string => (s === null ? "–" : stamp(Date.parse(s)));
  const asks = [t.accelerators > 0 && plural(t.accelerators, "accelerator"), t.cpu_cores > 0 && plural(t.cpu_cores, "core"), t.memory_bytes > 0 && bytes(t.memory_bytes)].filter(Boolean).join(", ");
  return (
    <dl class="details">
      <div><dt>Task</dt><dd class="mono wrap">{t.task}{t.cluster && <span class="muted"> of {t.cluster}</span>} {t.simulated && <Simulated />}</dd></div>
      <div><dt>Node</dt><dd>{t.node ? <a href={href(["nodes", t.node])}>{t.node}</a> : "–"}{t.devices && t.devices.length > 0 && <span class="muted"> {plural(t.devices.length, "device")}</span>}</dd></div>
      <div><dt>Asks for</dt><dd>{asks || "not told"}</dd></div>
      <div><dt>Kind</dt><dd>{[t.kind, t.type, t.priority !== null && `priority ${t.priority}`].filter(Boolean).join(", ") || "–"}</dd></div>
      <div><dt>Waited from</dt><dd class="num">{at(t.waiting_from)}</dd></div>
      <div><dt>Placed</dt><dd class="num">{at(t.scheduled)}</dd></div>
      <div><dt>Started</dt><dd class="num">{at(t.started)}</dd></div>
      <div><dt>{stateText(t.state)} since</dt><dd class="num">{at(t.changed)}{t.reason && <span class="muted"> {t.reason}</span>}</dd></div>
      <div><dt>Promises</dt><dd>{[t.deadline !== null && `deadline ${at(t.deadline)}`, t.max_queue_seconds !== null && `waits at most ${seconds(t.max_queue_seconds)}`].filter(Boolean).join(", ") || "none"}</dd></div>
      {t.breaks.map((b) => <div key={b.kind}><dt><Badge tone="bad">{title(b.kind)} broken</Badge></dt><dd>{at(b.time)}: promised {seconds(b.promised_seconds)}, was {seconds(b.measured_seconds)} when seen</dd></div>)}
    </dl>
  );
}
