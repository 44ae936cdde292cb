import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { getJSON } from "../lib/api";
import { useFeatures } from "../lib/data";
import { bytes, plural, value } from "../lib/format";
import { useAsk } from "../lib/live";
import type { Device, NodeDetail } from "../lib/model";
import { href, type Place } from "../lib/url";
import { Badge, Empty, Head, Show, Simulated, Stat } from "../ui/parts";
import { FeatureCharts, RawSamples, type Plot } from "./charts";
import { FaultList, FlagList } from "./health";
import { RangeChoice, rangeOfPlace } from "./range";

const plots: readonly Plot[] = [
  { title: "Busy", view: "device_monitoring", features: ["busy_ratio", "compute_ratio", "tensor_ratio"] },
  { title: "Memory used", view: "device_monitoring", features: ["memory_used_bytes"] },
  { title: "Memory bandwidth", view: "device_monitoring", features: ["memory_bandwidth_ratio"] },
  { title: "Power", view: "device_monitoring", features: ["power_watts"] },
  { title: "Temperature", view: "device_monitoring", features: ["temperature_celsius", "memory_temperature_celsius"] },
  { title: "Clock and throttling", view: "device_monitoring", features: ["clock_ratio", "throttled_ratio_1m"] },
  { title: "Traffic", view: "device_monitoring", features: ["pcie_bytes_per_second_1m", "fabric_bytes_per_second_1m"] },
  { title: "Faults over an hour", view: "device_monitoring", features: ["faults_1h"] },
];

export function DevicePage({ node: name, uid, place }: { node: string; uid: string; place: Place }): JSX.Element {
  const node = useAsk(`node ${name}`, (s) => getJSON<NodeDetail>(`/v1/nodes/${encodeURIComponent(name)}`, s), 15_000);
  const features = useFeatures(), range = rangeOfPlace(place);
  const device = useMemo(() => node.data?.devices.find((d) => d.uid === uid), [node.data, uid]);
  return (
    <div class="page">
      <Head title={device?.model || "Device"} back={{ href: href(["nodes", name]), text: name }} badges={device?.simulated && <Simulated />} note={<span class="mono wrap">{uid}</span>}>
        <RangeChoice name={range.name} />
      </Head>
      <Show asked={node} what="The device">
        {(n) => !device ? <Empty title="The node's inventory has no such device"><a href={href(["nodes", name])}>To {name}</a></Empty> : (
          <>
            <Facts d={device} />
            <section class="charts" aria-label="Features over time">
              {features.data && <FeatureCharts plots={plots} defined={features.data.filter((f) => f.latest)} labels={{ node: name, uid }} span={range.span} />}
            </section>
            <RawSamples labels={{ node: name, device: uid }} picked={place.query.get("metric")} span={range.span} first={["accel_busy_ratio", "accel_power_watts"]} />
            <div class="columns">
              <FaultList faults={n.faults.filter((f) => f.device === uid)} devices={n.devices} node={name} />
              <FlagList flags={n.flags.filter((f) => f.uid === uid)} />
            </div>
          </>
        )}
      </Show>
    </div>
  );
}

function Facts({ d }: { d: Device }): JSX.Element {
  const lanes = d.link_width !== null ? `PCIe × ${d.link_width}` : "";
  return (
    <dl class="stats">
      <Stat label="Vendor" value={d.vendor || "–"} note={[d.kind, d.generation].filter(Boolean).join(", ")} />
      <Stat label="Memory" value={d.memory_bytes === null ? "–" : bytes(d.memory_bytes)} />
      <Stat label="Power limit" value={d.power_limit_watts === null ? "–" : value(d.power_limit_watts, "watts")} />
      <Stat label="Link" value={lanes || "–"} note={d.link_max_width !== null && d.link_width !== null && d.link_width < d.link_max_width ? <Badge tone="warn">of {d.link_max_width} lanes</Badge> : undefined} />
      <Stat label="Where" value={d.pci || "–"} note={d.numa !== null ? `NUMA node ${d.numa}` : undefined} />
      <Stat label="Shared as" value={d.slices && d.slices.length > 0 ? plural(d.slices.length, "slice") : d.sharing || d.partition || "whole"} note={d.slices?.join(", ") || (d.mig ? `MIG ${d.mig}` : undefined)} />
      <Stat label="Driver" value={d.driver || "not told"} note={d.firmware && `firmware ${d.firmware}`} />
    </dl>
  );
}
