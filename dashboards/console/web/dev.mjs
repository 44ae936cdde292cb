// Serves the console from the sources on 127.0.0.1:6577 while they change; all else comes from
// a running API, $SEXTANT_API or http://127.0.0.1:6566.
import { spawnSync } from "node:child_process";
import { createServer, request } from "node:http";
import { existsSync, readFileSync, watch } from "node:fs";
import { extname, join } from "node:path";

const api = new URL(process.env.SEXTANT_API ?? "http://127.0.0.1:6566"), port = Number(process.env.PORT ?? 6577);
const out = join(import.meta.dirname, ".dev");
const kinds = { ".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml", ".woff2": "font/woff2", ".txt": "text/plain" };
const policy = /const Policy = "([^"]*)" \+\s*"([^"]*)"/.exec(readFileSync(join(import.meta.dirname, "assets.go"), "utf8")).slice(1).join("");

const build = () => spawnSync(process.execPath, [join(import.meta.dirname, "build.mjs"), "--out", out], { stdio: "inherit" });
build();
let soon;
watch(join(import.meta.dirname, "src"), { recursive: true }, () => {
  clearTimeout(soon);
  soon = setTimeout(build, 100);
});

createServer((req, res) => {
  const { pathname } = new URL(req.url, api);
  if (pathname === "/") return res.writeHead(302, { Location: "/console/" }).end();
  if (pathname.startsWith("/console/")) {
    const name = join(out, pathname.slice("/console/".length)), file = extname(name) !== "" && name.startsWith(out) && existsSync(name) ? name : join(out, "index.html");
    res.writeHead(200, { "Content-Type": kinds[extname(file)] ?? "application/octet-stream", "Content-Security-Policy": policy, "Cache-Control": "no-store" });
    return res.end(readFileSync(file));
  }
  const up = request({ host: api.hostname, port: api.port, method: req.method, path: req.url, headers: { ...req.headers, host: api.host } }, (from) => {
    res.writeHead(from.statusCode, from.headers);
    from.pipe(res);
  });
  up.on("error", (e) => res.headersSent ? res.destroy() : res.writeHead(502).end(e.message));
  req.pipe(up);
}).listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}/console/, with the API of ${api.origin}`));
