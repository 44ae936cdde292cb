import type { JSX } from "preact";
import { Badge, type Tone } from "../ui/parts";

const tones: Record<string, Tone> = { started: "accent", finished: "good", failed: "bad", evicted: "warn", queued: "plain", submitted: "plain", scheduled: "plain", cancelled: "plain" };
const words: Record<string, string> = { started: "running" };

export const stateText = (s: string): string => words[s] ?? s;

export function StateBadge({ state }: { state: string }): JSX.Element {
  return <Badge tone={tones[state] ?? "plain"}>{stateText(state)}</Badge>;
}
