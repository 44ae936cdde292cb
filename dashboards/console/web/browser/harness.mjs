// A browser with the eyes of a strict visitor: whatever leaves the origin, breaks the policy,
// is logged as an error or cannot be used by everybody fails the run.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const [base, shots] = process.argv.slice(2);
if (!base || !shots) throw new Error("want the address of the API and the folder for pictures");
mkdirSync(shots, { recursive: true });

export const desktop = { width: 1440, height: 900 }, phone = { width: 360, height: 740 };

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--force-color-profile=srgb"] });

const failed = [];

/** Runs check in a window of its own. allowed are texts of errors that the check provokes. */
export async function visit(name, { size = desktop, scheme = "dark", allowed = [], touch = false, motion = "no-preference" } = {}, check) {
  const began = Date.now();
  const context = await browser.newContext({ viewport: size, colorScheme: scheme, hasTouch: touch, reducedMotion: motion, locale: "en-GB" });
  const page = await context.newPage(), wrong = [], asked = [];
  page.setDefaultTimeout(30_000);
  await page.addInitScript(() => document.addEventListener("securitypolicyviolation", (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI}`)));
  page.on("console", (m) => m.type() === "error" && wrong.push(`console: ${m.text()} ${m.location().url}`));
  page.on("pageerror", (e) => wrong.push(`error: ${e.message}`));
  page.on("request", (r) => {
    asked.push(r.url());
    if (!r.url().startsWith(`${base}/`)) wrong.push(`request to ${r.url()}`);
    if (/token/i.test(new URL(r.url()).search)) wrong.push(`a token in ${r.url()}`);
  });
  try {
    await check(page, { asked, context });
    const left = wrong.filter((w) => !allowed.some((a) => w.includes(a)));
    assert.deepEqual(left, [], name);
    assert.ok(asked.length > 0, "nothing was asked for");
    console.log(`ok ${name} (${((Date.now() - began) / 1000).toFixed(1)} s, ${asked.length} requests)`);
  } catch (e) {
    await page.screenshot({ path: `${shots}/FAILED-${name.replace(/\W+/g, "-")}.png` }).catch(() => {});
    failed.push(name);
    console.log(`not ok ${name}: ${e.message}\n${wrong.join("\n")}`);
  } finally {
    await context.close();
  }
}

/** The open page as a picture, and nothing on it that some could not use. */
export async function look(page, name, { full = true } = {}) {
  await page.screenshot({ path: `${shots}/${name}.png`, fullPage: full });
  const wide = await page.evaluate(() => document.scrollingElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `${name}: the page is ${wide} px wider than the window`);
  await page.evaluate(axe);
  const { violations, passes } = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  assert.ok(passes.length > 10, `${name}: axe looked at nothing`);
  assert.deepEqual(violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => `${n.target} ${n.failureSummary}`).join("; ")}`), [], name);
}

export const get = async (path) => (await fetch(base + path)).json();

export async function end() {
  await browser.close();
  assert.deepEqual(failed, [], "what failed");
  console.log("all ok");
}
