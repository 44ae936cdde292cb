// One feature of all nodes: from the snapshot of a service that has it, which is one binary
// answer for the whole cluster, or else by looking the nodes up.

import { ApiError, getBytes, getJSON, postJSON } from "./api";
import type { Feature, Online } from "./model";
import { pulse } from "./live";
import { column, decodeSnapshot, Status } from "./snapshot";

export interface Values {
  nodes: string[];
  values: Float32Array; // NaN: none. Of texts: the place in categories
  status: Uint8Array;
  times: Float64Array; // unix ms of the tick; 0: none
  categories: string[] | undefined;
  from: "snapshot" | "look-up";
}

interface Services {
  services: { ref: string; name: string; latest: boolean; join_keys: string[]; features: string[] }[];
}

let services: Promise<Services> | undefined;
let missing = false; // the server has no snapshots

/** The values of a feature for every node; nodes are those to look up where there is no snapshot. */
export async function valuesOf(f: Feature, nodes: readonly string[], signal: AbortSignal): Promise<Values> {
  if (!missing && f.dtype !== "string") {
    try {
      const found = await fromSnapshot(f, signal);
      if (found) return found;
    } catch (e) {
      if (!(e instanceof ApiError) || !(e.missing || e.status === 403 || e.status === 503)) throw e;
      if (e.missing) missing = true;
    }
  }
  return lookUp(f, nodes, signal);
}

/** The widest service of nodes that has a feature. */
export async function serviceOf(f: Feature): Promise<string | undefined> {
  services ??= getJSON<Services>("/v1/services");
  services.catch(() => (services = undefined));
  const list = (await services).services.filter((s) => s.latest && s.join_keys.length === 1 && s.join_keys[0] === "node" && s.features.includes(f.ref));
  return list.sort((a, b) => b.features.length - a.features.length)[0]?.name;
}

async function fromSnapshot(f: Feature, signal: AbortSignal): Promise<Values | undefined> {
  const service = await serviceOf(f);
  if (service === undefined) return undefined;
  const s = pulse.snapshot?.header.service === service ? pulse.snapshot
    : decodeSnapshot(await getBytes(`/v1/snapshot?service=${encodeURIComponent(service)}&format=raw`, signal));
  const d = s.header.features.findIndex((x) => x.view === `${f.view}@v${f.version}` && (x.name === f.name || x.name.endsWith(`__${f.name}`)));
  if (d < 0) return undefined;
  return { nodes: s.keys[0] ?? [], ...column(s, d), categories: undefined, from: "snapshot" };
}

const atOnce = 20_000; // entities in one look-up

async function lookUp(f: Feature, nodes: readonly string[], signal: AbortSignal): Promise<Values> {
  const out: Values = {
    nodes: [...nodes], values: new Float32Array(nodes.length).fill(NaN), status: new Uint8Array(nodes.length).fill(Status.notFound),
    times: new Float64Array(nodes.length), categories: f.dtype === "string" ? [] : undefined, from: "look-up",
  };
  const place = new Map<string, number>();
  for (let from = 0; from < nodes.length; from += atOnce) {
    const part = nodes.slice(from, from + atOnce);
    const answer = await postJSON<Online>("/get-online-features", { features: [f.ref], entities: { node: part } }, signal);
    fill(out, from, answer, place);
  }
  return out;
}

const numbers: Record<string, number> = {
  PRESENT: Status.present, NULL_VALUE: Status.nullValue, NOT_FOUND: Status.notFound, OUTSIDE_MAX_AGE: Status.outsideMaxAge,
};

/** Puts the second column of an answer, the first feature, behind what is there. */
export function fill(out: Values, from: number, answer: Online, place: Map<string, number>): void {
  const c = answer.results[1];
  if (!c) throw new ApiError(0, "an answer without the feature");
  for (let i = 0; i < c.values.length; i++) {
    out.status[from + i] = numbers[c.statuses[i] ?? ""] ?? Status.invalid;
    const v = c.values[i];
    if (typeof v === "number") out.values[from + i] = v;
    else if (typeof v === "boolean") out.values[from + i] = v ? 1 : 0;
    else if (typeof v === "string" && out.categories) {
      let k = place.get(v);
      if (k === undefined) {
        k = out.categories.push(v) - 1;
        place.set(v, k);
      }
      out.values[from + i] = k;
    }
    const t = Date.parse(c.event_timestamps[i] ?? "");
    out.times[from + i] = t > 0 ? t : 0;
  }
}
