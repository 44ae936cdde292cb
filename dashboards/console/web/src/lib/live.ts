// What is shown is asked again while the page is looked at: at each tick that the watch stream
// tells of, or, where there is no stream, every few seconds. Failures back off; what was known
// stays on the page, with the time that it is of.

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, openStream } from "./api";
import type { Snapshot } from "./snapshot";
import { changed, Frames } from "./watch";

export interface Asked<T> {
  data: T | undefined;
  error: ApiError | undefined;
  /** Unix ms of the answer that data is. */
  at: number;
  loading: boolean; // nothing is there yet, and an answer is on its way
  retry: () => void;
}

const longest = 60_000; // ms between two tries

/** ms to wait after so many failures in a row: doubling from 2 s, with some chance in it. */
export function backoff(failures: number, chance = Math.random()): number {
  return Math.min(longest, 1000 * 2 ** Math.min(failures, 6)) * (0.75 + 0.5 * chance);
}

/**
 * Asks now, when key changes, and every so many ms; 0: once. A hidden page asks nothing.
 * With key null nothing is asked.
 */
export function useAsk<T>(key: string | null, ask: (signal: AbortSignal) => Promise<T>, every: number): Asked<T> {
  const [state, set] = useState<{ key: string | null; data?: T; error?: ApiError; at: number }>({ key, at: 0 });
  const [again, bump] = useState(0);
  const asking = useRef(ask);
  asking.current = ask;
  useEffect(() => {
    if (key === null) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let failures = 0, running = false;
    const run = async (): Promise<void> => {
      clearTimeout(timer);
      if (running) return;
      if (document.hidden) return; // visibilitychange starts it again
      running = true;
      try {
        const data = await asking.current(stop.signal);
        if (stop.signal.aborted) return;
        failures = 0;
        set({ key, data, at: Date.now() });
      } catch (e) {
        if (stop.signal.aborted) return;
        failures++;
        const error = e instanceof ApiError ? e : new ApiError(0, e instanceof Error ? e.message : String(e));
        set((old) => (old.key === key ? { ...old, error } : { key, error, at: 0 }));
        if (error.needsLogin || error.missing) return; // only the reader can change that
      } finally {
        running = false;
      }
      if (every > 0 || failures > 0) timer = setTimeout(run, failures > 0 ? backoff(failures) : pulse.live ? Math.max(every, pulse.period * 3) : every);
    };
    const wake = (): void => {
      if (!document.hidden) void run();
    };
    document.addEventListener("visibilitychange", wake);
    if (every > 0) pulse.addEventListener("tick", wake);
    void run();
    return () => {
      stop.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", wake);
      pulse.removeEventListener("tick", wake);
    };
  }, [key, every, again]);
  const mine = state.key === key;
  return {
    data: mine ? state.data : undefined, error: mine ? state.error : undefined, at: mine ? state.at : 0,
    loading: key !== null && (!mine || (state.data === undefined && state.error === undefined)), retry: () => bump((n) => n + 1),
  };
}

/**
 * The watch stream of a service: it keeps the newest version of its matrix, and an event "tick"
 * tells of each. Where there is no stream, pages ask by themselves.
 */
class Pulse extends EventTarget {
  live = false;
  snapshot: Snapshot | undefined; // of the service, while live
  readonly period = 10_000; // ms between two ticks
  private service = "";
  private stop: AbortController | undefined;

  start(service: string): void {
    if (this.stop && service === this.service) return;
    this.end();
    this.service = service;
    this.stop = new AbortController();
    void this.follow(this.stop.signal);
  }

  end(): void {
    this.stop?.abort();
    this.stop = undefined;
    this.becomes(undefined);
  }

  private becomes(snapshot: Snapshot | undefined): void {
    const live = snapshot !== undefined;
    this.snapshot = snapshot;
    if (this.live !== live) {
      this.live = live;
      this.dispatchEvent(new Event("state"));
    }
    if (live) this.dispatchEvent(new Event("tick"));
  }

  private async follow(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        const reader = (await openStream(`/v1/watch?service=${encodeURIComponent(this.service)}&format=raw`, signal)).getReader();
        const frames = new Frames();
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          for (const frame of frames.push(value)) {
            const next = changed(this.snapshot, frame);
            if (next === this.snapshot || signal.aborted) continue;
            failures = 0;
            this.becomes(next);
          }
        }
      } catch (e) {
        if (signal.aborted) return;
        // A server without the stream, or a caller who may not have it: pages poll.
        if (e instanceof ApiError && e.status >= 400 && e.status < 500 && e.status !== 429) return this.becomes(undefined);
      }
      if (signal.aborted) return;
      this.becomes(undefined);
      await new Promise((resolve) => setTimeout(resolve, backoff(failures + 1)));
    }
  }
}

export const pulse = new Pulse();

/** The clock, for ages: once a second while the page is looked at. */
export function useNow(): number {
  const [now, set] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) set(Date.now());
    }, 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

export function usePulse(): boolean {
  const [live, set] = useState(pulse.live);
  useEffect(() => {
    const look = (): void => set(pulse.live);
    pulse.addEventListener("state", look);
    return () => pulse.removeEventListener("state", look);
  }, []);
  return live;
}
