// From a task's times to the pieces of its bar. Pure.

import type { Task } from "./model";

export interface Piece {
  kind: "waiting" | "placed" | "running" | "done" | "failed" | "evicted";
  from: number; // unix ms
  to: number;
  open: boolean; // goes on
}

const ms = (t: string | null): number | undefined => (t === null ? undefined : Date.parse(t));

/** The pieces of a task's bar up to now, in their order. Times that contradict each other yield to the earlier piece. */
export function pieces(t: Task, now: number): Piece[] {
  const begun = ms(t.begun) ?? ms(t.changed)!, waiting = ms(t.waiting_from) ?? begun, scheduled = ms(t.scheduled), started = ms(t.started), evicted = ms(t.evicted);
  const end = t.ended ? ms(t.changed)! : now;
  const out: Piece[] = [];
  const add = (kind: Piece["kind"], from: number, to: number, open: boolean): void => {
    const begin = Math.max(from, out[out.length - 1]?.to ?? -Infinity);
    if (to > begin || (to === begin && out.length === 0)) out.push({ kind, from: begin, to, open });
  };
  const waits = t.state === "submitted" || t.state === "queued";
  add("waiting", waiting, scheduled ?? started ?? end, waits);
  if (scheduled !== undefined) add("placed", scheduled, started ?? end, t.state === "scheduled");
  if (started !== undefined) {
    const stopped = evicted !== undefined && evicted >= started ? evicted : end;
    const kind = t.state === "failed" || t.state === "cancelled" ? "failed" : t.ended ? "done" : "running";
    add(kind, started, stopped, t.state === "started");
    if (stopped === evicted) add("evicted", evicted, end, t.state === "evicted");
  } else if (evicted !== undefined) add("evicted", evicted, end, t.state === "evicted");
  return out;
}

/** Times of an axis: some that read well, within from and to. */
export function axis(from: number, to: number, most: number): number[] {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080].map((m) => m * 60_000);
  const step = steps.find((s) => (to - from) / s <= most) ?? steps[steps.length - 1]!;
  // Whole steps of local time.
  const shift = new Date(from).getTimezoneOffset() * 60_000;
  const out: number[] = [];
  for (let t = Math.ceil((from - shift) / step) * step + shift; t <= to; t += step) out.push(t);
  return out;
}
