// Flat files, for tests.

const round = (n: number): number => (n + 63) & ~63;

/** A file as docs/snapshot.md describes it; change is more of its header, gone the entities that a delta takes away. */
export function file(keys: string[][], values: number[][], status: number[][], ages: number[][], change: object = {}, gone: string[][] = []): ArrayBuffer {
  const rows = keys[0]!.length, dims = values[0]?.length ?? 0, views = ages[0]?.length ?? 0;
  const blob = (k: string[]): Buffer => {
    const text = k.map((s) => new TextEncoder().encode(s)), ends = [0];
    for (const t of text) ends.push(ends[ends.length - 1]! + t.length);
    return Buffer.concat([new Uint8Array(new Uint32Array(ends).buffer), ...text]);
  };
  const blobs = keys.map(blob), goneBlobs = gone.map(blob);
  const base = 1024, offsets = { keys: base, values: 0, status: 0, ages: 0 };
  let at = base;
  const places = blobs.map((b) => { const p = at; at = round(at + b.length); return p; });
  offsets.values = at;
  at = round(at + 4 * rows * dims);
  offsets.status = at;
  at = round(at + rows * dims);
  offsets.ages = at;
  at = round(at + 4 * rows * views);
  const gonePlaces = goneBlobs.map((b) => { const p = at; at = round(at + b.length); return p; });
  const out = Buffer.alloc(at);
  out.write("SXS1");
  out.writeUInt32LE(base - 8, 4);
  const features = Array.from({ length: dims }, (_, d) => ({ name: `f${d}`, view: "v0@v1", dtype: "float32", unit: "ratio" }));
  out.write(JSON.stringify({ kind: "snapshot", version: 10, tick: 10, known: 20_000, service: "s", join_keys: keys.map((_, i) => `k${i}`), features, views: [{ view: "v0@v1", tick: 10, rows, late: false, ttl_seconds: 60 }], rows, dims, offsets,
    removed: gone[0]?.length ?? 0, sections: gonePlaces.map((offset, i) => ({ name: `removed/k${i}`, offset })), ...change }).padEnd(base - 8), 8);
  blobs.forEach((b, i) => b.copy(out, places[i]));
  goneBlobs.forEach((b, i) => b.copy(out, gonePlaces[i]));
  values.flat().forEach((v, i) => out.writeFloatLE(v, offsets.values + 4 * i));
  status.flat().forEach((v, i) => out.writeUInt8(v, offsets.status + i));
  ages.flat().forEach((v, i) => out.writeFloatLE(v, offsets.ages + 4 * i));
  return out.buffer.slice(out.byteOffset, out.byteOffset + out.length) as ArrayBuffer;
}
