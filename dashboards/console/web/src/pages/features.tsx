import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { useFeatures, useViews, wordsOf } from "../lib/data";
import { plural, seconds, title, unitName } from "../lib/format";
import type { Feature, View } from "../lib/model";
import { adjust, href, type Place } from "../lib/url";
import { Badge, Empty, Head, Show } from "../ui/parts";

export function FeaturesPage({ place }: { place: Place }): JSX.Element {
  const features = useFeatures(), states = useViews();
  const text = place.query.get("filter") ?? "";
  const views = useMemo(() => {
    const words = wordsOf(text), by = new Map<string, Feature[]>();
    for (const f of features.data ?? []) {
      const all = `${f.view} ${f.name} ${f.description} ${f.unit} ${f.tier} ${f.owner} ${f.dtype}`.toLowerCase();
      if (!words.every((w) => all.includes(w))) continue;
      const ref = `${f.view}@v${f.version}`;
      by.set(ref, [...(by.get(ref) ?? []), f]);
    }
    return [...by];
  }, [features.data, text]);
  const found = views.reduce((n, [, list]) => n + list.length, 0);
  return (
    <div class="page">
      <Head title="Features" note={features.data ? `${plural(features.data.length, "feature")} in force` : undefined}>
        <label class="field grow"><span class="hidden">Search</span><input type="search" placeholder="Search name, description, unit, owner…" value={text} spellcheck={false} onInput={(e) => adjust({ filter: e.currentTarget.value })} /></label>
      </Head>
      <Show asked={features} what="Features">
        {(all) => all.length === 0 ? <section class="panel"><Empty title="No feature view is in force">sextant features apply brings definitions into force.</Empty></section>
          : found === 0 ? <section class="panel"><Empty title="No feature is meant by the search" /></section>
            : views.map(([ref, list]) => <ViewPanel key={ref} view={ref} list={list} state={states.data?.find((v) => v.ref === ref)} open={text.trim() !== ""} />)}
      </Show>
    </div>
  );
}

function ViewPanel({ view, list, state, open }: { view: string; list: Feature[]; state: View | undefined; open: boolean }): JSX.Element {
  const f = list[0]!, fresh = state?.freshness;
  return (
    <details class="panel view" id={view} open={open}>
      <summary>
        <h2>{title(f.view)}</h2>
        <span class="muted">{plural(list.length, "feature")} of {f.join_keys.join(" and ")}, every {seconds(f.interval_seconds)}, kept {seconds(f.ttl_seconds)}{f.latest ? "" : `, v${f.version} superseded`}</span>
        <span class="actions">
          <Badge>{f.tier}</Badge>
          {state && <Badge>{({ promql: "PromQL", sql: "SQL", push: "pushed" })[state.kind]}</Badge>}
          {fresh && (fresh.age_seconds === undefined ? <Badge>no rows</Badge> : <Badge tone={fresh.fresh ? "good" : "warn"}>{plural(fresh.rows, "row")}, newest {seconds(Math.round(fresh.age_seconds))} old</Badge>)}
        </span>
      </summary>
      <div class="scroll" tabIndex={0} role="group" aria-label={`Features of ${title(f.view)}`}>
        <table class="table">
          <thead><tr><th scope="col">Feature</th><th scope="col">Unit</th><th scope="col" class="wide-only">Type</th><th scope="col">What it says</th></tr></thead>
          <tbody>{list.map((x) => (
            <tr key={x.ref}>
              <td><a href={href(["features", `${x.view}@v${x.version}`, x.name])}>{x.name}</a></td>
              <td class="muted">{unitName(x.unit) || "–"}</td>
              <td class="muted wide-only">{x.dtype}</td>
              <td class="wrap">{x.description}</td>
            </tr>
          ))}</tbody>
        </table>
      </div>
    </details>
  );
}
