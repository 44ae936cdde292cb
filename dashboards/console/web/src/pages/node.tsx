import type { JSX } from "preact";
import { getJSON, postJSON } from "../lib/api";
import { useFeatures } from "../lib/data";
import { age, bytes, count, plural, stamp, value } from "../lib/format";
import { useAsk, useNow } from "../lib/live";
import type { Device, NodeDetail, Online, Tasks } from "../lib/model";
import { href, type Place } from "../lib/url";
import { Badge, Empty, Head, Meter, Panel, Show, Simulated, Stat } from "../ui/parts";
import { FeatureCharts, RawSamples, type Plot } from "./charts";
import { FaultList, FlagList } from "./health";
import { RangeChoice, rangeOfPlace } from "./range";
import { StateBadge } from "./taskparts";

const plots: readonly Plot[] = [
  { title: "CPU", view: "node_monitoring", features: ["cpu_utilization_1m", "pressure_cpu_1m"] },
  { title: "Memory used", view: "node_monitoring", features: ["memory_used_ratio"] },
  { title: "Network", view: "node_monitoring", features: ["network_receive_bytes_per_second_1m", "network_transmit_bytes_per_second_1m"] },
  { title: "Disk", view: "node_monitoring", features: ["disk_read_bytes_per_second_1m", "disk_write_bytes_per_second_1m"] },
  { title: "Accelerators busy", view: "node_accelerators", features: ["busy_mean_1m", "busy_max"] },
  { title: "Accelerator memory", view: "node_accelerators", features: ["memory_used_ratio_mean", "memory_used_ratio_max"] },
  { title: "Accelerator power", view: "node_accelerators", features: ["power_watts"] },
  { title: "Hottest accelerator", view: "node_accelerators", features: ["temperature_max"] },
];

export function NodePage({ name, place }: { name: string; place: Place }): JSX.Element {
  const node = useAsk(`node ${name}`, (s) => getJSON<NodeDetail>(`/v1/nodes/${encodeURIComponent(name)}`, s), 15_000);
  const features = useFeatures(), range = rangeOfPlace(place), now = useNow();
  return (
    <div class="page">
      <Head title={name} back={{ href: href([]), text: "Cluster" }}
        badges={node.data && <>{node.data.simulated && <Simulated />}{node.data.cordoned && <Badge tone="warn">cordoned</Badge>}</>}
        note={node.data && (node.data.seen > 0 ? `Last features ${age(node.data.seen, now)}` : "No features are in memory: nothing came of late")}>
        <RangeChoice name={range.name} />
      </Head>
      <Show asked={node} what={`Node ${name}`}>
        {(n) => (
          <>
            <Facts n={n} />
            {n.devices.length > 0 && <Devices n={n} />}
            <section class="charts" aria-label="Features over time">
              {features.data && <FeatureCharts plots={plots} defined={features.data.filter((f) => f.latest)} labels={{ node: name }} span={range.span} />}
            </section>
            <div class="columns">
              <NodeTasks name={name} />
              <FaultList faults={n.faults} devices={n.devices} node={name} />
            </div>
            <FlagList flags={n.flags} />
            <RawSamples labels={{ node: name }} picked={place.query.get("metric")} span={range.span} first={["node_load1", "up"]} />
            <div class="columns">
              <Targets n={n} />
              <Changes n={n} />
            </div>
            <AllFacts n={n} />
          </>
        )}
      </Show>
    </div>
  );
}

function Facts({ n }: { n: NodeDetail }): JSX.Element {
  const place = [n.region, n.zone, n.rack && `rack ${n.rack}`, n.switch && `switch ${n.switch}`].filter(Boolean).join(" · ");
  return (
    <dl class="stats">
      <Stat label="Accelerators" value={n.accelerators > 0 ? `${n.accelerators} × ${n.model || n.vendor}` : "none"} />
      <Stat label="Processors" value={n.threads === null ? "–" : plural(n.threads, "thread")} note={[n.cpu_model, n.sockets !== null && plural(n.sockets, "socket")].filter(Boolean).join(", ")} />
      <Stat label="Memory" value={n.memory_bytes === null ? "–" : bytes(n.memory_bytes)} note={n.numa_nodes > 1 ? `${n.numa_nodes} NUMA nodes` : undefined} />
      <Stat label="Place" value={place || "not told"} note={n.group && `group ${n.group}`} />
      <Stat label="Network" value={n.ports.length === 0 ? "–" : plural(n.ports.length, "port")} note={[...new Set(n.ports.map((p) => p.bytes_per_second !== null ? `${value(p.bytes_per_second * 8 / 1e9, "")} Gbit/s` : p.kind))].join(", ")} />
      <Stat label="System" value={n.os || n.arch || "–"} note={n.kernel || (n.os ? n.arch : undefined)} />
      <Stat label="Inventory" value={n.collected === null ? "none" : age(Date.parse(n.collected), Date.now())} note={n.unread && n.unread.length > 0 ? `${plural(n.unread.length, "part")} could not be read` : "complete"} />
    </dl>
  );
}

const columns = ["busy_ratio", "memory_used_ratio", "temperature_celsius", "power_watts", "health"] as const;

function Devices({ n }: { n: NodeDetail }): JSX.Element {
  const uids = n.devices.map((d) => d.uid);
  const now = useAsk(`devices ${n.node} ${uids.join(" ")}`, (s) => postJSON<Online>("/get-online-features", {
    features: columns.map((c) => `device_monitoring:${c}`), entities: { node: uids.map(() => n.node), uid: uids },
  }, s), 10_000);
  const at = (d: Device, c: (typeof columns)[number]): number | null => {
    const i = now.data?.metadata.feature_names.indexOf(c) ?? -1, row = uids.indexOf(d.uid), col = now.data?.results[i];
    const v = col?.values[row];
    return col?.statuses[row] === "PRESENT" && typeof v === "number" ? v : null;
  };
  return (
    <Panel title="Devices" note={plural(n.devices.length, "accelerator")}>
      <div class="scroll" tabIndex={0} role="group" aria-label="Devices">
        <table class="table">
          <thead><tr><th scope="col">Device</th><th scope="col">Busy</th><th scope="col">Memory</th><th scope="col" class="right">Temperature</th><th scope="col" class="right">Power</th><th scope="col" class="wide-only">Where</th></tr></thead>
          <tbody>
            {n.devices.map((d) => (
              <tr key={d.id}>
                <td><a href={href(["nodes", n.node, "devices", d.uid])}>{d.model || d.kind || "device"}</a> <span class="muted mono clip short" title={d.uid}>{d.uid.slice(0, 12)}</span>{d.slices && d.slices.length > 0 && <Badge>{plural(d.slices.length, "slice")}</Badge>}{at(d, "health") === 0 && <Badge tone="bad">unhealthy</Badge>}</td>
                <td><Meter label="Busy" ratio={at(d, "busy_ratio")} text={value(at(d, "busy_ratio"), "ratio")} /></td>
                <td><Meter label="Memory used" ratio={at(d, "memory_used_ratio")} text={value(at(d, "memory_used_ratio"), "ratio")} /></td>
                <td class="right num">{value(at(d, "temperature_celsius"), "celsius")}</td>
                <td class="right num">{value(at(d, "power_watts"), "watts")}</td>
                <td class="wide-only muted num">{[d.pci, d.numa !== null && `NUMA ${d.numa}`].filter(Boolean).join(" · ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {now.error && <p class="muted small pad">Readings cannot be shown: {now.error.message}.</p>}
    </Panel>
  );
}

function NodeTasks({ name }: { name: string }): JSX.Element {
  const tasks = useAsk(`tasks of ${name}`, (s) => getJSON<Tasks>(`/v1/tasks?${new URLSearchParams({ node: name, limit: "50" })}`, s), 10_000);
  return (
    <Panel title="Tasks" note={<a href={href(["tasks"], { node: name })}>timeline</a>}>
      <Show asked={tasks} what="Tasks">
        {(t) => t.tasks.length === 0 ? <Empty title="No task was on this node within the hour" /> : (
          <div class="scroll" tabIndex={0} role="group" aria-label="Tasks on this node">
            <table class="table">
              <thead><tr><th scope="col">Task</th><th scope="col">State</th><th scope="col">Tenant</th><th scope="col" class="right">Since</th></tr></thead>
              <tbody>{t.tasks.slice(0, 12).map((x) => (
                <tr key={`${x.cluster}/${x.task}`}>
                  <td class="clip" title={x.task}>{x.name || x.task}</td>
                  <td><StateBadge state={x.state} />{x.breaks.length > 0 && <Badge tone="bad">{plural(x.breaks.length, "break")}</Badge>}</td>
                  <td>{x.tenant || "–"}</td>
                  <td class="right num">{age(Date.parse(x.changed), Date.now())}</td>
                </tr>
              ))}</tbody>
            </table>
          </div>
        )}
      </Show>
    </Panel>
  );
}

function Targets({ n }: { n: NodeDetail }): JSX.Element {
  return (
    <Panel title="Scraped targets" note="over 10 minutes">
      {n.targets.length === 0 ? <Empty title="No record came within 10 minutes" /> : (
        <div class="scroll" tabIndex={0} role="group" aria-label="Targets">
          <table class="table">
            <thead><tr><th scope="col">Target</th><th scope="col">State</th><th scope="col" class="right">Samples</th><th scope="col" class="right">Last</th></tr></thead>
            <tbody>{n.targets.map((t) => (
              <tr key={t.target}>
                <td class="clip" title={t.target}>{t.target}</td>
                <td><Badge tone={t.state === "ok" ? "good" : t.state === "partial" ? "warn" : "bad"}>{t.state}</Badge>{t.failed > 0 && <Badge tone="bad">{count(t.failed)} of {count(t.records)} failed</Badge>}</td>
                <td class="right num">{count(t.samples)}</td>
                <td class="right num">{age(Date.parse(t.last), Date.now())}</td>
              </tr>
            ))}</tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}

function Changes({ n }: { n: NodeDetail }): JSX.Element {
  return (
    <Panel title="Changes of the inventory">
      {n.changes.length === 0 ? <Empty title="Nothing has changed since the first inventory" /> : (
        <ul class="list">{n.changes.slice(0, 30).map((c) => (
          <li key={c.time + c.fact}><time class="muted num">{stamp(Date.parse(c.time))}</time><span class="mono wrap">{c.fact}</span><span><s class="muted">{c.before || "nothing"}</s> → <b>{c.after || "nothing"}</b></span></li>
        ))}</ul>
      )}
    </Panel>
  );
}

function AllFacts({ n }: { n: NodeDetail }): JSX.Element | null {
  const facts = Object.entries(n.facts ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  if (facts.length === 0) return null;
  return (
    <details class="panel">
      <summary><h2>All inventory facts</h2><span class="muted">{count(facts.length)}, of {n.collected ? stamp(Date.parse(n.collected)) : "an unknown time"}</span></summary>
      <dl class="facts">{facts.map(([k, v]) => <div key={k}><dt class="mono">{k}</dt><dd>{v}</dd></div>)}</dl>
    </details>
  );
}

