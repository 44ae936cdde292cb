// What several pages ask.

import { useMemo } from "preact/hooks";
import { getJSON } from "./api";
import { useAsk, type Asked } from "./live";
import type { Feature, Node, Nodes, View } from "./model";

export const useNodes = (every = 20_000): Asked<Nodes> => useAsk("nodes", (s) => getJSON<Nodes>("/v1/nodes", s), every);

export function useFeatures(): Asked<Feature[]> {
  return useAsk("features", async (s) => (await getJSON<{ features: Feature[] }>("/v1/features", s)).features, 300_000);
}

/** The newest version of each feature whose only key is key. */
export function useFeaturesOf(key: string): Asked<Feature[]> {
  const all = useFeatures();
  const data = useMemo(() => all.data?.filter((f) => f.latest && f.join_keys.length === 1 && f.join_keys[0] === key), [all.data, key]);
  return { ...all, data };
}

/** The views with how fresh their rows are. */
export const useViews = (): Asked<View[]> => useAsk("views", async (s) => (await getJSON<{ views: View[] }>("/v1/views", s)).views, 10_000);

/** How nodes may be grouped. */
export const groupings: readonly { value: string; text: string; of: (n: Node) => string }[] = [
  { value: "group", text: "Node group", of: (n) => n.group || n.node.replace(/[-_.]?\d+$/, "") },
  { value: "rack", text: "Rack", of: (n) => n.rack },
  { value: "zone", text: "Zone", of: (n) => n.zone },
  { value: "vendor", text: "Vendor", of: (n) => n.vendor },
  { value: "model", text: "Accelerator model", of: (n) => n.model },
  { value: "none", text: "Not at all", of: () => "All nodes" },
];

/** Whether a node is meant by the words of a filter: each is part of what is known of it. */
export function matches(n: Node, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text = [n.node, n.group, n.rack, n.zone, n.region, n.vendor, n.model, n.simulated ? "simulated" : "real", n.cordoned ? "cordoned" : ""].join(" ").toLowerCase();
  return words.every((w) => (w.startsWith("-") && w.length > 1 ? !text.includes(w.slice(1)) : text.includes(w)));
}

export const wordsOf = (text: string): string[] => text.toLowerCase().split(/\s+/).filter((w) => w !== "");
