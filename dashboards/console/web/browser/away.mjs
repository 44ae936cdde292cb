// ClickHouse goes away while pages are open. The test kills it when the file $KILL is asked
// for, by a request to the address $KILL.
import assert from "node:assert/strict";
import { base, end, look, visit } from "./harness.mjs";

const allowed = ["status of 503", "status of 502", "status of 500"];

await visit("what was known stays, with its age; what was not says why", { allowed }, async (page) => {
  await page.goto(`${base}/console/line`);
  await page.locator(".verdict").waitFor();
  await fetch(process.env.KILL, { method: "POST" });
  await page.getByRole("alert").getByText(/^This is of \d\d:\d\d:\d\d/).first().waitFor();
  assert.ok(await page.locator(".step").first().isVisible(), "the line is gone");
  await look(page, "line-away");
  await page.goto(`${base}/console/tasks`);
  await page.getByRole("alert").getByText("Tasks cannot be shown").waitFor();
  await page.getByRole("button", { name: "Try again" }).waitFor();
  await look(page, "tasks-away");
});

await visit("the map goes on without the store, and says so", { allowed }, async (page) => {
  await page.goto(`${base}/console/`);
  await page.locator(".map-legend", { hasText: "nodes" }).waitFor();
  await page.getByRole("alert").first().waitFor();
  await look(page, "map-away", { full: false });
});

await end();
