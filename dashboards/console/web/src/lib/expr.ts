// What a definition is made of.

/** Words of PromQL that have a _ and are no metric. */
const own = new Set(["group_left", "group_right", "count_values", "label_replace", "label_join"]);

export const isSQL = (expr: string): boolean => /\bFROM\b/.test(expr);

/** The metrics that a PromQL expression names; none of SQL. */
export function metricsOf(expr: string): string[] {
  if (isSQL(expr)) return [];
  const plain = expr.replace(/#.*$/gm, " ").replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\{[^}]*\}/g, "{}").replace(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, " ");
  const out = new Set<string>();
  for (const m of plain.matchAll(/[a-zA-Z_:][a-zA-Z0-9_:]*/g)) {
    const word = m[0], after = plain.slice(m.index + word.length).trimStart()[0], before = plain[m.index - 1] ?? "";
    if (after === "(" || /[0-9[.]/.test(before) || own.has(word)) continue;
    if (word.includes("_") || word.includes(":") || word === "up") out.add(word);
  }
  return [...out].sort();
}
