import { chromium } from "playwright-core";
const [base, out, ...pages] = process.argv.slice(2);
const b = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
for (const p of pages) {
  const [name, path, size = "1440x900", scheme = "dark", full = ""] = p.split("|");
  const [width, height] = size.split("x").map(Number);
  const ctx = await b.newContext({ viewport: { width, height }, colorScheme: scheme });
  const page = await ctx.newPage();
  page.on("console", (m) => m.type() === "error" && console.log(name, "console:", m.text()));
  page.on("pageerror", (e) => console.log(name, "error:", e.message));
  page.on("requestfailed", (r) => console.log(name, "failed:", r.url(), r.failure()?.errorText));
  page.on("response", (r) => r.status() >= 400 && console.log(name, r.status(), r.url()));
  await page.goto(base + path);
  await page.waitForTimeout(3500);
  await page.screenshot({ path: `${out}/${name}.png`, fullPage: full === "full" });
  await ctx.close();
}
await b.close();
