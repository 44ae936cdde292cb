// Ten thousand nodes: how long a frame takes while the map is moved and zoomed.
import assert from "node:assert/strict";
import { base, end, look, visit } from "./harness.mjs";

const nodes = Number(process.env.NODES);

await visit(`${nodes} nodes`, {}, async (page, { asked }) => {
  const began = Date.now();
  await page.goto(`${base}/console/?feature=node_monitoring:cpu_utilization_1m&by=rack`);
  await page.locator(".map-legend", { hasText: /[89],\d{3} of 10,000 nodes with a value/ }).waitFor();
  console.log(`map of ${nodes} nodes: shown after ${Date.now() - began} ms`);
  assert.ok(asked.some((u) => /\/v1\/(snapshot|watch)\?service=node_state&format=raw/.test(u)), "the whole cluster was not asked for at once");
  await look(page, "map-10000", { full: false });
  const box = await page.locator("canvas.map").boundingBox(), x = box.x + box.width / 2, y = box.y + box.height / 2;
  await page.evaluate(() => {
    window.frames10k = [];
    let last = performance.now();
    const tick = (now) => {
      window.frames10k.push(now - last);
      last = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  const measure = async (what, move) => {
    await page.evaluate(() => { window.frames10k.length = 0; });
    for (let i = 0; i < 40; i++) await move(i);
    const frames = (await page.evaluate(() => window.frames10k)).slice(1).sort((a, b) => a - b);
    const at = (q) => frames[Math.min(frames.length - 1, Math.floor(q * frames.length))];
    console.log(`map of ${nodes} nodes, ${what}: ${frames.length} frames, median ${at(0.5).toFixed(1)} ms, 95 of 100 under ${at(0.95).toFixed(1)} ms, longest ${at(1).toFixed(1)} ms`);
    assert.ok(frames.length >= 10 && at(0.5) < 200, `${what}: ${at(0.5)} ms a frame`);
  };
  await page.mouse.move(x, y);
  await measure("pointer over it", (i) => page.mouse.move(x + 8 * Math.sin(i) * i, y + 4 * Math.cos(i) * i));
  await page.mouse.move(x, y);
  await measure("zooming", (i) => page.mouse.wheel(0, i < 20 ? -60 : 60));
  await page.mouse.wheel(0, -200);
  await page.mouse.down();
  await measure("dragging", (i) => page.mouse.move(x + 150 * Math.sin(i / 6), y + 90 * Math.cos(i / 6)));
  await page.mouse.up();
  await page.keyboard.press("Tab");
});

await end();
