// The URL is the state: what a page shows can be sent to somebody as a link.

import { useEffect, useState } from "preact/hooks";

export const root = "/console/";

export interface Place {
  path: string[]; // below /console/, decoded
  query: URLSearchParams;
}

export function parse(url: URL): Place {
  const path = url.pathname.startsWith(root) ? url.pathname.slice(root.length) : "";
  return { path: path.split("/").filter((p) => p !== "").map(decode), query: url.searchParams };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a % that is none
  }
}

/** The link to a place. Empty values are left out. */
export function href(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(query)) if (v !== undefined && v !== "") q.set(k, v);
  const text = q.toString();
  return root + path.map(encodeURIComponent).join("/") + (text === "" ? "" : `?${text}`);
}

const moved = new EventTarget();

export function go(to: string, replace = false): void {
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  moved.dispatchEvent(new Event("move"));
}

/** Changes parts of the query and keeps the page; no new entry in the history. */
export function adjust(change: Readonly<Record<string, string | undefined>>): void {
  const url = new URL(location.href);
  for (const [k, v] of Object.entries(change)) {
    if (v === undefined || v === "") url.searchParams.delete(k);
    else url.searchParams.set(k, v);
  }
  go(url.pathname + url.search, true);
}

export function usePlace(): Place {
  const [place, set] = useState(() => parse(new URL(location.href)));
  useEffect(() => {
    const look = (): void => set(parse(new URL(location.href)));
    window.addEventListener("popstate", look);
    moved.addEventListener("move", look);
    return () => {
      window.removeEventListener("popstate", look);
      moved.removeEventListener("move", look);
    };
  }, []);
  return place;
}

/** Links of the console are followed without loading the page again. */
export function followLinks(): void {
  document.addEventListener("click", (e) => {
    if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
    const a = (e.target as Element | null)?.closest?.("a");
    if (!a || a.target !== "" || a.origin !== location.origin || !a.pathname.startsWith(root) || a.hash !== "") return;
    e.preventDefault();
    go(a.pathname + a.search);
  });
}
