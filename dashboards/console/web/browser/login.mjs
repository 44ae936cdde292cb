// An API that asks for a token: $TOKEN is the right one.
import assert from "node:assert/strict";
import { base, end, look, visit } from "./harness.mjs";

const allowed = ["status of 401"];

await visit("a token is asked for, kept in the tab, and nowhere else", { allowed }, async (page, { context, asked }) => {
  await page.goto(`${base}/console/line`);
  await page.getByRole("heading", { name: "Sign in to Sextant" }).waitFor();
  await look(page, "login-dark");
  await page.getByLabel("Token").fill("0123456789-wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("This token is not known.").waitFor();
  await page.getByLabel("Token").fill(process.env.TOKEN);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Line" }).waitFor();
  await page.locator(".step").first().waitFor();
  assert.equal(new URL(page.url()).pathname, "/console/line");
  const kept = await page.evaluate(() => ({ session: Object.values(sessionStorage), local: Object.values(localStorage), cookie: document.cookie }));
  assert.deepEqual(kept, { session: [process.env.TOKEN], local: [], cookie: "" });
  assert.ok(!asked.some((u) => u.includes(process.env.TOKEN)));
  await page.reload();
  await page.locator(".step").first().waitFor();
  const other = await context.newPage();
  await other.goto(`${base}/console/line`);
  await other.getByRole("heading", { name: "Sign in to Sextant" }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in to Sextant" }).waitFor();
  assert.deepEqual(await page.evaluate(() => Object.keys(sessionStorage)), []);
});

await visit("the page to sign in, in the light", { scheme: "light", allowed }, async (page) => {
  await page.goto(`${base}/console/`);
  await page.getByRole("heading", { name: "Sign in to Sextant" }).waitFor();
  await look(page, "login-light");
});

await end();
