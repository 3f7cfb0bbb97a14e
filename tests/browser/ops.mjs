// Every op on WebGPU against the CPU, as the page `check.html` compares them.
import assert from "node:assert/strict";
import { assertNoComplaints, openTab } from "./tab.mjs";

// Software WebGPU is slow, and so are two busy cores.
const TIMEOUT_MS = 300_000;

export async function testOps(report, { browser, url }) {
  const { page, complaints } = await openTab(browser);
  let rows = [];
  await report.test("ops: the page comes to a verdict", async () => {
    await page.goto(`${url}check.html`);
    await page.locator('#verdict:not([data-state="running"])').waitFor({ timeout: TIMEOUT_MS });
    const verdict = await page.locator("#verdict").textContent();
    rows = (await page.evaluate(() => window.report))?.rows ?? [];
    assert.ok(rows.length > 0, verdict);
    assertNoComplaints(complaints);
  });
  const nameOf = (row) => `${row.op} (${row.source})`;
  for (const name of new Set(rows.map(nameOf))) {
    await report.test(`ops: webgpu agrees with cpu: ${name}`, async () => {
      assert.deepEqual(rows.filter((row) => nameOf(row) === name && !row.pass), []);
    });
  }
  await page.close();
}
