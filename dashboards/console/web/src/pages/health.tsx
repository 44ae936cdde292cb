// What is wrong: faults of devices, and flags of values.

import type { JSX } from "preact";
import { age, count, plural, stamp } from "../lib/format";
import type { Device, NodeDetail } from "../lib/model";
import { href } from "../lib/url";
import { Badge, Empty, Panel } from "../ui/parts";

export function FaultList({ faults, devices, node }: { faults: NodeDetail["faults"]; devices: readonly Device[]; node: string }): JSX.Element {
  return (
    <Panel title="Faults and clock events" note="over a day">
      {faults.length === 0 ? <Empty title="No device has told of a fault" /> : (
        <ul class="list">{faults.slice(0, 40).map((f) => {
          const d = devices.find((x) => x.uid === f.device);
          return (
            <li key={f.time + f.device + f.code}>
              <time class="muted num" title={stamp(Date.parse(f.time))}>{age(Date.parse(f.time), Date.now())}</time>
              <Badge tone={f.kind === "fault" ? "bad" : "warn"}>{f.kind === "fault" ? `code ${f.code || "unknown"}` : f.code}</Badge>
              <span class="clip">{d ? <a href={href(["nodes", node, "devices", d.uid])}>{d.model} {d.pci}</a> : f.device}</span>
              {f.count > 1 && <span class="num muted">× {count(f.count)}</span>}
            </li>
          );
        })}</ul>
      )}
    </Panel>
  );
}

/** What each flag says; docs/quality.md has more. */
const meaning: Record<string, string> = {
  retimed: "its time could not be right; the time of the scrape stands in", late: "came after its tick was closed", partial: "the scrape had bad lines, or was cut",
  blank: "the exporter said that it has no value", out_of_range: "a value that the metric cannot have", contradiction: "busy, and no engine has worked",
  frozen: "does not move where it must", period: "renewed more seldom than it is scraped", stale: "the series ended, or the target does not answer",
  held: "a counter stepped back a little", reset: "a counter began anew",
};

export function FlagList({ flags }: { flags: NodeDetail["flags"] }): JSX.Element {
  const force = flags.filter((f) => f.in_force).length;
  return (
    <Panel title="Quality of values" note={flags.length === 0 ? undefined : `${force === 0 ? "none" : count(force)} in force, ${count(flags.length)} over a day`}>
      {flags.length === 0 ? <Empty title="Nothing was wrong with a value over the last day" /> : (
        <div class="scroll" tabIndex={0} role="group" aria-label="Flags of values">
          <table class="table">
            <thead><tr><th scope="col">Flag</th><th scope="col">Of</th><th scope="col" class="right">Scrapes</th><th scope="col" class="right wide-only">First</th><th scope="col" class="right">Last</th></tr></thead>
            <tbody>{flags.slice(0, 60).map((f) => (
              <tr key={f.flag + f.uid + f.metric + f.target}>
                <td><Badge tone={f.in_force ? "warn" : "plain"}>{f.flag.replace(/_/g, " ")}</Badge> <span class="muted wide-only">{meaning[f.flag] ?? ""}</span></td>
                <td class="clip" title={[f.metric, f.uid, f.target].filter(Boolean).join(" ")}>{f.metric || f.target || f.uid} {f.metric !== "" && f.uid !== "" && <span class="muted mono">{f.uid.slice(0, 12)}</span>}</td>
                <td class="right num">{count(f.scrapes)}</td>
                <td class="right num wide-only">{age(Date.parse(f.first), Date.now())}</td>
                <td class="right num">{f.in_force ? "now" : age(Date.parse(f.last), Date.now())}</td>
              </tr>
            ))}</tbody>
          </table>
          {flags.length > 60 && <p class="muted small pad">{plural(flags.length - 60, "more row")} in the SQL view quality.</p>}
        </div>
      )}
    </Panel>
  );
}
