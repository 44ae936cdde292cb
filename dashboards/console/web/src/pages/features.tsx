import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { useFeatures } from "../lib/data";
import { plural, seconds, title, unitName } from "../lib/format";
import { useAsk } from "../lib/live";
import type { Feature, Ready } from "../lib/model";
import { adjust, href, type Place } from "../lib/url";
import { Badge, Empty, Head, Panel, Show } from "../ui/parts";
import { readiness } from "./freshness";
import { wordsOf } from "../lib/data";

export function FeaturesPage({ place }: { place: Place }): JSX.Element {
  const features = useFeatures(), ready = useAsk<Ready>("ready", readiness, 10_000);
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
            : views.map(([ref, list]) => <View key={ref} view={ref} list={list} state={ready.data?.views.find((v) => v.view === ref)} />)}
      </Show>
    </div>
  );
}

function View({ view, list, state }: { view: string; list: Feature[]; state: Ready["views"][number] | undefined }): JSX.Element {
  const f = list[0]!;
  const late = state?.age_seconds !== undefined && state.age_seconds > f.ttl_seconds;
  return (
    <Panel title={title(f.view)} id={view} note={<>v{f.version}{!f.latest && ", superseded"} · of {f.join_keys.join(" and ")} · every {seconds(f.interval_seconds)} · kept {seconds(f.ttl_seconds)}</>}
      actions={<>
        <Badge>{f.tier}</Badge>
        {f.push && <Badge>pushed</Badge>}
        {state === undefined ? null : state.age_seconds === undefined ? <Badge>no rows</Badge> : <Badge tone={late ? "warn" : "good"}>{plural(state.entities, "row")}, newest {seconds(Math.round(state.age_seconds))} old</Badge>}
      </>}>
      <div class="scroll" tabIndex={0} role="region" aria-label={`Features of ${title(f.view)}`}>
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
    </Panel>
  );
}
