// A telephone: a small window, and a finger in the place of a mouse.
import assert from "node:assert/strict";
import { assertNoComplaints, openTab } from "./tab.mjs";
import { Window } from "./widgets.mjs";
import { ZERO } from "./window.mjs";

const SIZE = { width: 390, height: 844 };
const PAGES = ["Set up", "Training", "Posterior", "Ensemble", "Uncertainty", "Calibration", "Predict", "Compare"];

export async function testFinger(report, { browser, url, name }) {
  // One pixel to the point: a scale that is only emulated does not reach the size of a canvas.
  const options = { viewport: SIZE, hasTouch: true, isMobile: true };
  const { page, complaints } = await openTab(browser, options);
  const window = new Window(page, name);
  const test = (what, run) => report.test(`telephone: ${what}`, run);

  await test("the canvas and every page are within reach", async () => {
    await page.goto(url);
    await window.until("network", (now) => now.happened.opened && !now.busy);
    for (const label of [...PAGES, "Canvas", "Fine-tune here", "Device"]) {
      const [left, top, right, bottom] = await window.place(label);
      const inside = left >= 0 && top >= 0 && right <= SIZE.width && bottom <= SIZE.height;
      assert.ok(inside, `${label}: ${[left, top, right, bottom]}`);
    }
  });
  await test("a zero that a finger draws is a zero", async () => {
    const { digit, probability } = await window.drawWithFinger(ZERO);
    await window.picture("telephone");
    assert.equal(digit, "0");
    assert.ok(probability > 0.9, `${probability}`);
  });
  await test("a finger turns the pages", async () => {
    await window.tap("Training");
    await window.until("page", (now) => now.page === "Training");
    await window.picture("telephone-training");
    await window.tap("Predict");
    await window.until("page", (now) => now.page === "Predict");
    assertNoComplaints(complaints);
  });
  await page.close();
}
