// Builds the console into dist, or into the folder after --out; --tests bundles the unit
// tests into .test instead. What it writes hangs on the sources and the lock file alone.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const here = import.meta.dirname;
const at = (...parts) => join(here, ...parts);

if (process.argv.includes("--tests")) {
  rmSync(at(".test"), { recursive: true, force: true });
  await build({
    entryPoints: readdirSync(at("test")).filter((f) => f.endsWith(".test.ts")).map((f) => at("test", f)),
    bundle: true, platform: "node", format: "esm", target: "node20", outdir: at(".test"), outExtension: { ".js": ".mjs" },
    jsx: "automatic", jsxImportSource: "preact", logLevel: "warning",
  });
  process.exit(0);
}

const flag = process.argv.indexOf("--out");
const out = flag > 0 ? process.argv[flag + 1] : at("dist");
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

const { metafile } = await build({
  entryPoints: { app: at("src/main.tsx"), theme: at("src/theme.ts"), style: at("src/style.css"), icon: at("src/icon.svg") },
  bundle: true, minify: true, format: "esm", target: ["chrome110", "firefox115", "safari16.4"],
  outdir: out, entryNames: "assets/[name]-[hash]", assetNames: "assets/[name]-[hash]",
  loader: { ".woff2": "file", ".svg": "copy" }, jsx: "automatic", jsxImportSource: "preact",
  legalComments: "none", metafile: true, logLevel: "warning", absWorkingDir: here,
});

const made = Object.entries(metafile.outputs);
const name = (begin, end) => {
  const found = made.map(([path]) => basename(path)).find((f) => f.startsWith(begin) && f.endsWith(end));
  if (!found) throw new Error(`no ${begin}*${end} was made`);
  return `/console/assets/${found}`;
};
writeFileSync(join(out, "index.html"), readFileSync(at("src/index.html"), "utf8")
  .replace("{{style}}", name("style-", ".css")).replace("{{theme}}", name("theme-", ".js"))
  .replace("{{app}}", name("app-", ".js")).replace("{{icon}}", name("icon-", ".svg"))
  .replace("{{font}}", name("inter-latin-wght-normal-", ".woff2")));

const licences = { preact: "LICENSE", uplot: "LICENSE", "@fontsource-variable/inter": "LICENSE" };
writeFileSync(join(out, "licences.txt"), Object.entries(licences)
  .map(([dep, file]) => `${dep}\n\n${readFileSync(at("node_modules", dep, file), "utf8").trim()}\n`).join("\n----\n\n"));

// The test of package web compares this with the sources.
if (flag < 0) writeFileSync(at("dist.sha256"), digest() + "\n");

function digest() {
  const files = ["build.mjs", "package-lock.json", "tsconfig.json", ...readdirSync(at("src"), { recursive: true, withFileTypes: true })
    .filter((f) => f.isFile()).map((f) => join(f.parentPath ?? f.path, f.name).slice(here.length + 1))].sort();
  const all = createHash("sha256");
  for (const f of files) all.update(`${f}\n${createHash("sha256").update(readFileSync(at(f))).digest("hex")}\n`);
  return all.digest("hex");
}
