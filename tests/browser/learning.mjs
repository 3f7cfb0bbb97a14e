// A network that knows nothing learns on WebGPU: small enough for a GPU in software.
import assert from "node:assert/strict";
import { assertNoComplaints, openTab } from "./tab.mjs";
import { Window } from "./widgets.mjs";

const RUN = `
[model]
architecture = "mlp"
[data]
path = "few-digits"
[posterior]
method = "mfg"
[training]
epochs = 50
batch = 16
[training.rates]
mean_rate = 0.05
`;

const STEPS = 24;

export async function testLearning(report, { browser, url, name }) {
  const { page, complaints } = await openTab(browser);
  const window = new Window(page, name);
  await report.test(`learning: ${STEPS} steps on WebGPU from random weights, and the loss falls`, async () => {
    await page.goto(url);
    await window.until("network", (now) => now.happened.opened);
    await window.click("Device");
    await window.click("WebGPU");
    await window.until("device", (now) => /^WebGPU: /.test(now.device) && !now.busy);
    await window.drop("run.toml", Buffer.from(RUN));
    await window.until("page for it", (now) => now.page === "Set up");
    await window.startRun();
    const { happened } = await window.until("steps", (now) => now.happened.step >= STEPS, { timeout: 300_000 });
    const [first, last] = [happened.losses[0], happened.losses.at(-1)];
    assert.ok(first > 1.5, `${first}`);
    assert.ok(last < 0.7 * first, `${happened.losses}`);
    console.log(`    the loss fell from ${first.toFixed(3)} to ${last.toFixed(3)} in ${happened.step} steps`);
    await window.click("Stop");
    await window.until("end", (now) => !now.running);
    assertNoComplaints(complaints);
  });
  await page.close();
}
