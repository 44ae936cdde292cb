// The stream of /v1/watch?format=raw: flat files, each behind its length. The first is the whole
// matrix, the others what changed. docs/snapshot.md describes it.

import { decodeHeader, decodeSnapshot, decodeTexts, type Snapshot } from "./snapshot";

const longest = 1 << 30; // bytes of a frame

/** Cuts a stream into frames, however it comes. */
export class Frames {
  private parts: Uint8Array[] = [];
  private held = 0; // bytes of parts

  push(bytes: Uint8Array): ArrayBuffer[] {
    this.parts.push(bytes);
    this.held += bytes.length;
    const out: ArrayBuffer[] = [];
    for (;;) {
      if (this.held < 4) return out;
      const all = this.joined(), size = new DataView(all.buffer, all.byteOffset).getUint32(0, true);
      if (size > longest) throw new Error(`watch: a frame of ${size} bytes`);
      if (this.held < 4 + size) return out;
      out.push(all.slice(4, 4 + size).buffer as ArrayBuffer);
      this.parts = [all.subarray(4 + size)];
      this.held -= 4 + size;
    }
  }

  /** All that is held, as one piece. Pieces are put together when there may be enough of them. */
  private joined(): Uint8Array {
    if (this.parts.length > 1) {
      const head = this.parts[0]!;
      const size = head.length >= 4 ? new DataView(head.buffer, head.byteOffset).getUint32(0, true) : 0;
      if (size > 0 && this.held < 4 + size) return head; // the length is all that is read of it
      const all = new Uint8Array(this.held);
      let at = 0;
      for (const p of this.parts) {
        all.set(p, at);
        at += p.length;
      }
      this.parts = [all];
    }
    return this.parts[0]!;
  }
}

/** The version that a frame makes of the one before. A heartbeat, or the end of the stream, leaves it as it is. */
export function changed(old: Snapshot | undefined, frame: ArrayBuffer): Snapshot | undefined {
  const header = decodeHeader(frame);
  if (header.kind === "heartbeat" || header.kind === "end") return old;
  const news = decodeSnapshot(frame);
  if (header.kind === "snapshot") return news;
  if (!old || old.header.version !== header.since) throw new Error(`watch: a change of version ${header.since}, and ${old?.header.version} is here`);
  return merge(old, news, goneOf(frame, news));
}

const joined = (keys: readonly string[][], row: number): string => keys.map((k) => k[row]).join("\u0000");

function goneOf(frame: ArrayBuffer, news: Snapshot): Set<string> {
  const n = news.header.removed ?? 0;
  if (n === 0) return new Set();
  const keys = news.header.join_keys.map((k) => {
    const s = news.header.sections?.find((x) => x.name === `removed/${k}`);
    if (!s) throw new Error(`watch: ${n} entities are gone, and their ${k} is not told`);
    return decodeTexts(frame, s.offset, n).texts;
  });
  return new Set(Array.from({ length: n }, (_, i) => joined(keys, i)));
}

/** Old rows without those that are gone, changed rows in their place, new ones behind. */
function merge(old: Snapshot, news: Snapshot, gone: ReadonlySet<string>): Snapshot {
  const { dims } = news.header, views = news.header.views.length;
  const place = new Map<string, number>(), from: number[] = []; // a new row's old row, or -1
  for (let i = 0; i < old.header.rows; i++) {
    const key = joined(old.keys, i);
    if (gone.has(key)) continue;
    place.set(key, from.push(i) - 1);
  }
  const to = Array.from({ length: news.header.rows }, (_, i) => {
    const key = joined(news.keys, i);
    let at = place.get(key);
    if (at === undefined) place.set(key, (at = from.push(-1) - 1));
    return at;
  });
  const rows = from.length, same = rows === old.header.rows && gone.size === 0;
  const out: Snapshot = {
    header: { ...news.header, kind: "snapshot", rows }, keys: old.keys,
    values: same ? old.values.slice() : new Float32Array(rows * dims), status: same ? old.status.slice() : new Uint8Array(rows * dims), ages: same ? old.ages.slice() : new Float32Array(rows * views),
  };
  const copy = (s: Snapshot, i: number, at: number): void => {
    out.values.set(s.values.subarray(i * dims, (i + 1) * dims), at * dims);
    out.status.set(s.status.subarray(i * dims, (i + 1) * dims), at * dims);
    out.ages.set(s.ages.subarray(i * views, (i + 1) * views), at * views);
  };
  if (!same) {
    from.forEach((i, at) => i >= 0 && copy(old, i, at));
    out.keys = old.keys.map((k, j) => {
      const names = from.map((i) => (i >= 0 ? k[i]! : ""));
      to.forEach((at, i) => (names[at] = news.keys[j]![i]!));
      return names;
    });
  }
  to.forEach((at, i) => copy(news, i, at));
  return out;
}
