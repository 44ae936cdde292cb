// Charts of features and of raw samples, as the pages of nodes and devices have them.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { title, unitName } from "../lib/format";
import { useAsk } from "../lib/live";
import type { Feature } from "../lib/model";
import { curves, featureName, metadata, metricNames, names, quote, type Curves } from "../lib/prom";
import { adjust } from "../lib/url";
import { Chart } from "../ui/chart";
import { Empty, Panel, Select, Show } from "../ui/parts";

/** One chart: features of one view and unit, drawn together. */
export interface Plot {
  title: string;
  view: string;
  features: string[];
}

const matchers = (labels: Readonly<Record<string, string>>): string => Object.entries(labels).map(([k, v]) => `${k}=${quote(v)}`).join(",");

/** Charts of features. Those of one view are asked for at once. */
export function FeatureCharts({ plots, defined, labels, span }: { plots: readonly Plot[]; defined: readonly Feature[]; labels: Readonly<Record<string, string>>; span: number }): JSX.Element {
  const known = useMemo(() => plots.map((p) => ({ ...p, features: p.features.filter((f) => defined.some((d) => d.view === p.view && d.name === f)) })).filter((p) => p.features.length > 0), [plots, defined]);
  const views = [...new Set(known.map((p) => p.view))];
  return <>{views.map((v) => <ViewCharts key={v} view={v} plots={known.filter((p) => p.view === v)} defined={defined} labels={labels} span={span} />)}</>;
}

function ViewCharts({ view, plots, defined, labels, span }: { view: string; plots: readonly Plot[]; defined: readonly Feature[]; labels: Readonly<Record<string, string>>; span: number }): JSX.Element {
  const wanted = [...new Set(plots.flatMap((p) => p.features))];
  const query = `{__name__=~${quote(wanted.map((f) => featureName(view, f)).join("|"))},${matchers(labels)}}`;
  const asked = useAsk(`${query} ${span}`, (s) => curves(query, span, s), span > 21_600 ? 60_000 : 10_000);
  return (
    <Show asked={asked} what={title(view)}>
      {(all) => plots.map((p) => {
        const of = p.features.map((f) => defined.find((d) => d.view === view && d.name === f)!);
        const series = of.map((f) => all.series.find((s) => s.labels["__name__"] === featureName(view, f.name))).filter((s) => s !== undefined);
        if (!series.some((s) => s.values.some((x) => x !== null))) return null;
        const data: Curves = { times: all.times, series, cut: 0 };
        const top = of.every((f) => f.max !== undefined) ? Math.max(...of.map((f) => f.max!)) : undefined;
        return <Chart key={p.title} title={p.title} unit={of[0]!.unit} data={data} names={series.map((s) => title((s.labels["__name__"] ?? "").split(":")[2] ?? ""))} top={top} />;
      })}
    </Show>
  );
}

/** A chart of raw samples of a metric that the reader picks; the URL keeps which. */
export function RawSamples({ labels, picked, span, first }: { labels: Readonly<Record<string, string>>; picked: string | null; span: number; first: readonly string[] }): JSX.Element {
  const selector = `{${matchers(labels)}}`;
  const list = useAsk(`names ${selector}`, (s) => metricNames(selector, s), 300_000);
  return (
    <Panel title="Raw samples" note="as scraped, under their canonical names">
      <Show asked={list} what="Metrics">
        {(all) => {
          if (all.length === 0) return <Empty title="No samples came within the last hour" />;
          const metric = picked !== null && all.includes(picked) ? picked : (first.find((f) => all.includes(f)) ?? all[0]!);
          return (
            <div class="raw">
              <Select label="Metric" value={metric} options={all.map((n) => ({ value: n, text: n, group: n.split("_")[0] ?? "" }))} onChange={(v) => adjust({ metric: v })} />
              <RawChart metric={metric} labels={labels} span={span} />
            </div>
          );
        }}
      </Show>
    </Panel>
  );
}

function RawChart({ metric, labels, span }: { metric: string; labels: Readonly<Record<string, string>>; span: number }): JSX.Element {
  const meta = useAsk(`meta ${metric}`, async (s) => (await metadata(metric, s)) ?? { type: "unknown", unit: "", help: "" }, 0);
  const counter = meta.data ? meta.data.type === "counter" : metric.endsWith("_total");
  const selector = `${metric}{${matchers(labels)}}`, query = counter ? `rate(${selector}[1m])` : selector;
  const asked = useAsk(meta.loading ? null : `${query} ${span}`, (s) => curves(query, span, s), span > 21_600 ? 60_000 : 10_000);
  const unit = meta.data?.unit ?? "";
  return (
    <Show asked={asked} what="Samples">
      {(data) => data.series.length === 0 ? <Empty title="No samples in this time" /> : (
        <>
          <Chart title={counter ? `${metric}, per second` : metric} unit={counter ? perSecond(unit) : unit} data={data} names={names(data.series, Object.keys(labels))} zero={unit !== "seconds" || counter} height={190} />
          <p class="muted small">{meta.data?.help || "The catalogue does not list this metric."} {unitName(unit) !== "" && `Unit: ${unit}.`} {counter && "A counter, shown as its rate over a minute."}</p>
        </>
      )}
    </Show>
  );
}

const perSecond = (unit: string): string => ({ bytes: "bytes_per_second", seconds: "ratio", joules: "watts", "": "count_per_second", count: "count_per_second", none: "count_per_second" })[unit] ?? "count_per_second";
