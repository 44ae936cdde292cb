// Every page over a running line, in both themes, on a phone, by keyboard and by link.
import assert from "node:assert/strict";
import { base, end, get, look, phone, visit } from "./harness.mjs";

const { nodes } = await get("/v1/nodes");
const node = nodes.find((n) => n.accelerators > 0 && n.simulated);
assert.ok(node, "no simulated node with accelerators");
const { devices } = await get(`/v1/nodes/${node.node}`);

/** What shows that a page has come to rest: texts of its own. */
const pages = [
  { name: "map", path: "/console/", rest: (p) => p.locator(".map-legend", { hasText: /[1-9]\d* of \d+ nodes with a value/ }).waitFor() },
  { name: "table", path: "/console/?view=table&feature=node_monitoring:cpu_utilization_1m", rest: (p) => p.locator("td.num", { hasText: "%" }).first().waitFor() },
  { name: "node", path: `/console/nodes/${node.node}`, rest: async (p) => {
    await p.locator(".chart .u-over").nth(6).waitFor();
    await p.getByRole("img", { name: /^Busy: \d/ }).first().waitFor();
  } },
  { name: "device", path: `/console/nodes/${node.node}/devices/${encodeURIComponent(devices[0].uid)}`, rest: (p) => p.locator(".chart .u-over").nth(4).waitFor() },
  { name: "features", path: "/console/features", rest: (p) => p.getByText("newest").first().waitFor() },
  { name: "feature", path: "/console/features/node_accelerators@v1/busy_mean_5m", rest: async (p) => {
    await p.locator(".histogram").waitFor();
    await p.locator(".lineage").getByText("accel_busy_ratio").waitFor();
  } },
  { name: "tasks", path: "/console/tasks", rest: (p) => p.locator(".timeline .bar").first().waitFor() },
  { name: "line", path: "/console/line", rest: async (p) => {
    await p.locator(".chart .u-over").nth(3).waitFor();
    await p.locator(".verdict").waitFor();
  } },
  { name: "decisions", path: "/console/decisions", rest: (p) => p.getByText("No placement service has written decisions yet").waitFor() },
];

for (const p of pages) {
  for (const [as, options] of [["dark", { scheme: "dark" }], ["light", { scheme: "light" }], ["phone", { size: phone, scheme: "dark", touch: true }]]) {
    await visit(`${p.name}, ${as}`, options, async (page) => {
      await page.goto(base + p.path);
      await p.rest(page);
      await look(page, `${p.name}-${as}`);
    });
  }
}

await visit("the map says what the API says", {}, async (page) => {
  await page.goto(`${base}/console/?feature=node_monitoring:memory_used_ratio`);
  const chips = page.locator(".map-legend .chips");
  await chips.getByText(new RegExp(`of ${nodes.length} nodes with a value`)).waitFor();
  const text = await chips.innerText(), simulated = nodes.filter((n) => n.simulated).length;
  assert.match(text, new RegExp(`${simulated === nodes.length ? "all" : simulated} simulated`));
  await page.getByRole("searchbox", { name: "Filter" }).fill("-simulated");
  await chips.getByText(new RegExp(`of ${nodes.length - simulated} nodes? with a value`)).waitFor();
  await page.getByRole("searchbox", { name: "Filter" }).fill(`${node.node} simulated`);
  await chips.getByText("1 of 1 node with a value").waitFor();
});

await visit("the map follows the watch stream", {}, async (page, { asked }) => {
  await page.goto(`${base}/console/?feature=node_monitoring:cpu_utilization_1m`);
  await pages[0].rest(page);
  await page.locator(".live.on").waitFor();
  const before = asked.filter((u) => u.includes("/v1/snapshot")).length;
  await page.waitForTimeout(12_000); // a version and more
  assert.equal(asked.filter((u) => u.includes("/v1/snapshot")).length, before, "a snapshot was asked for beside the stream");
  assert.equal(asked.filter((u) => u.includes("/v1/watch")).length, 1);
  await page.getByRole("link", { name: "Decisions" }).click();
  await page.getByText("every 10 s").waitFor();
});

await visit("a pointer reads a node and opens it", {}, async (page) => {
  await page.goto(`${base}/console/`);
  await pages[0].rest(page);
  const box = await page.locator("canvas.map").boundingBox();
  await page.mouse.move(box.x + 30, box.y + 40);
  const tip = page.locator(".tip");
  await tip.waitFor();
  const name = (await tip.locator(".tip-name").innerText()).split(/\s/)[0];
  assert.ok(nodes.some((n) => n.node === name), name);
  await page.mouse.wheel(0, -400);
  await page.getByRole("button", { name: "Show all" }).click();
  await page.mouse.click(box.x + 30, box.y + 40);
  await page.waitForURL(`**/console/nodes/${name}`);
  await page.getByRole("heading", { level: 1, name }).waitFor();
  await page.goBack();
  await page.locator("canvas.map").waitFor();
});

await visit("everything by keyboard", {}, async (page) => {
  await page.goto(`${base}/console/`);
  await pages[0].rest(page);
  const focus = () => page.evaluate(() => {
    const e = document.activeElement;
    return e.getAttribute("aria-label") ?? e.closest("label")?.innerText.trim().split("\n")[0] ?? e.innerText?.trim() ?? e.tagName;
  });
  const order = [];
  for (let i = 0; i < 30 && !String(order.at(-1)).includes("coloured by"); i++) {
    await page.keyboard.press("Tab");
    order.push(await focus());
    const ring = await page.evaluate(() => { const s = getComputedStyle(document.activeElement); return s.outlineStyle !== "none" || document.activeElement.classList.contains("skip"); });
    assert.ok(ring, `no ring around ${order.at(-1)}`);
  }
  const places = ["Skip to content", "Sextant, cluster map", "Cluster", "Tasks", "Features", "Line", "Decisions", "Theme", "Colour", "Group", "Filter", "Map", "Table", "coloured by"].map((t) => order.findIndex((o) => o.includes(t)));
  assert.ok(places.every((p, i) => p >= 0 && (i === 0 || p > places[i - 1])), `the order is ${order}`);
  const said = () => page.locator(".map-box [aria-live]").innerText();
  await page.keyboard.press("ArrowRight");
  const first = await said();
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await said(), first);
  await page.keyboard.press("+");
  await page.keyboard.press("0");
  await page.keyboard.press("Home");
  assert.match(await said(), new RegExp(`^(${nodes.map((n) => n.node).join("|")}), .+`));
  const name = (await said()).split(",")[0];
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/console/nodes/${name}`);
  await page.goto(`${base}/console/line`);
  await page.getByRole("heading", { level: 1, name: "Line" }).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
});

await visit("a link shows another person the same", {}, async (page) => {
  await page.goto(`${base}/console/`);
  await pages[0].rest(page);
  await page.getByRole("combobox", { name: "Colour" }).selectOption("node_monitoring:load_per_core_1m");
  await page.getByRole("combobox", { name: "Group" }).selectOption("vendor");
  const url = page.url();
  assert.match(url, /feature=node_monitoring%3Aload_per_core_1m/);
  assert.match(url, /by=vendor/);
  await page.goto("about:blank");
  await page.goto(url);
  await pages[0].rest(page);
  assert.equal(await page.getByRole("combobox", { name: "Colour" }).inputValue(), "node_monitoring:load_per_core_1m");
  assert.equal(await page.getByRole("combobox", { name: "Group" }).inputValue(), "vendor");
  await page.goto(`${base}/console/tasks?state=failed&range=6h`);
  await page.locator(".timeline, .state").first().waitFor();
  assert.equal(await page.getByRole("combobox", { name: "State" }).inputValue(), "failed");
  await page.goto(`${base}/console/no/such/page`);
  await page.getByText("There is no such page").waitFor();
});

await visit("a node that nobody knows", { allowed: ["status of 404"] }, async (page) => {
  await page.goto(`${base}/console/nodes/nobody`);
  await page.getByText("no such node").waitFor();
  await look(page, "node-unknown");
});

await visit("the theme is the system's until somebody chooses", { scheme: "light" }, async (page) => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.goto(`${base}/console/decisions`);
  const light = await ground();
  await page.getByRole("button", { name: "Theme: as the system" }).click();
  await page.getByRole("button", { name: "Theme: light" }).click();
  await page.getByRole("button", { name: "Theme: dark" }).waitFor();
  assert.notEqual(await ground(), light);
  await page.reload();
  assert.notEqual(await ground(), light);
});

await visit("a tap shows a node before it opens it", { size: phone, touch: true }, async (page) => {
  await page.goto(`${base}/console/`);
  await pages[0].rest(page);
  const box = await page.locator("canvas.map").boundingBox();
  await page.touchscreen.tap(box.x + 12, box.y + 34);
  await page.locator(".tip.touch").waitFor();
  await look(page, "map-tapped", { full: false });
  await page.getByRole("link", { name: "Open node" }).click();
  await page.waitForURL("**/console/nodes/**");
});

await visit("nothing moves for those who ask for that", { motion: "reduce" }, async (page) => {
  await page.route("**/v1/nodes", (r) => setTimeout(() => r.continue().catch(() => {}), 1500));
  await page.goto(`${base}/console/`);
  const turns = await page.locator(".spinner").evaluate((e) => getComputedStyle(e).animationIterationCount);
  assert.equal(turns, "1");
  await look(page, "map-loading", { full: false });
});

await end();
