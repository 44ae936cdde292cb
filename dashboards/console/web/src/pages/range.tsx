import type { JSX } from "preact";
import { spans } from "../lib/prom";
import { adjust, type Place } from "../lib/url";
import { Choice } from "../ui/parts";

/** The time that charts show, of the URL. */
export function rangeOfPlace(place: Place, standard = "1h"): { name: string; span: number } {
  const name = place.query.get("range") ?? standard;
  return name in spans ? { name, span: spans[name]! } : { name: standard, span: spans[standard]! };
}

export function RangeChoice({ name, standard = "1h" }: { name: string; standard?: string }): JSX.Element {
  return <Choice label="Time" value={name} options={Object.keys(spans).map((s) => ({ value: s, text: s }))} onChange={(v) => adjust({ range: v === standard ? undefined : v })} />;
}
