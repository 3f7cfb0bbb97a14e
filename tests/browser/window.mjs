// The window in a tab: what a visitor does, and sees.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assertSame, damaged, predictInTab, predictNatively, writePicture } from "./api.mjs";
import { assertNoComplaints, everywhere, mean, openTab, rest, sum } from "./tab.mjs";
import { Window } from "./widgets.mjs";

/** A zero, and something that is no digit; in shares of the canvas. */
export const ZERO = Array.from({ length: 25 }, (_, at) => {
  const angle = (at * Math.PI) / 12;
  return [0.5 + 0.22 * Math.sin(angle), 0.5 - 0.4 * Math.cos(angle)];
});
const SCRIBBLE = [
  [0.05, 0.1],
  [0.95, 0.3],
  [0.1, 0.5],
  [0.9, 0.7],
  [0.05, 0.95],
  [0.9, 0.9],
  [0.1, 0.05],
  [0.95, 0.95],
];

/** Steps of training that are looked at, and the milliseconds and steps after which fewer do, on a GPU in software. */
const STEPS = 20;
const PATIENCE_MS = 60_000;
const LEAST_STEPS = 3;

/** Software WebGPU is slow, and so are two busy cores. */
const LONG = { timeout: 600_000 };

/** Milliseconds after which a first step hangs; most of its time is the compilation of shaders. */
const FIRST_STEP_MS = 120_000;

/** Milliseconds of a step of the native program, with the settings of the demo; without the first, which compiles. */
function stepNatively(program, demo, device) {
  const out = join(mkdtempSync(join(tmpdir(), "bayesadapter-")), "run");
  const weights = join(demo, "map/posterior.safetensors");
  const flags = ["--data", "few-digits", "--posterior", "pse", "--batch", "32", "--epochs", "1", "--draws", "1"];
  execFileSync(program, ["finetune", "--weights", weights, ...flags, "--device", device, "--out", out, "--quiet"]);
  const rows = JSON.parse(readFileSync(join(out, "metrics.json"), "utf8"));
  const [first, last] = [rows[0], rows.at(-1)];
  return (1000 * (last.seconds - first.seconds)) / (last.step - first.step);
}

/** The demo starts from a trained network, so that its loss has nowhere to fall to: it must not run away. */
function assertSteady(losses) {
  assert.ok(losses.every(Number.isFinite), `${losses}`);
  const half = Math.ceil(losses.length / 2);
  const [before, after] = [mean(losses.slice(0, half)), mean(losses.slice(-half))];
  assert.ok(after < 1.5 * before + 0.1, `${losses}`);
  console.log(`    the loss was ${before.toFixed(3)} at first, then ${after.toFixed(3)}`);
}

function tellSpeed(ms, device, program, demo, name) {
  console.log(`    a step of 32 digits takes ${ms.toFixed(1)} ms in the tab; ${device}`);
  // Where the tab has WebGPU in software, the native program is asked to use such a GPU too.
  for (const native of name === "webgpu" ? ["gpu", "cpu"] : ["cpu"]) {
    const ratio = ms / stepNatively(program, demo, native);
    console.log(`    ${ratio.toFixed(2)} times as long as natively with --device ${native}`);
  }
}

export async function testWindow(report, { browser, url, program, demo, name }) {
  const { page, complaints } = await openTab(browser);
  const window = new Window(page, name);
  const posterior = join(demo, "pse/posterior.safetensors");
  const test = (what, run) => report.test(`window: ${what}`, run);

  await test("it loads, and the demo's network is open", async () => {
    const start = performance.now();
    await page.goto(url);
    await page.locator("#veil").waitFor({ state: "hidden", timeout: 120_000 });
    const drawn = performance.now();
    const status = await window.until("network", (now) => now.happened.opened);
    const ready = performance.now();
    assert.match(status.happened.opened, /^PSE posterior of digits-cnn/);
    assert.equal(status.page, "Predict");
    const seconds = (end) => ((end - start) / 1000).toFixed(1);
    console.log(`    first picture after ${seconds(drawn)} s, ready after ${seconds(ready)} s; ${status.device}`);
    assertNoComplaints(complaints);
  });
  await test("a drawn zero is a zero, and of a scribble it is less sure", async () => {
    const zero = await window.draw(ZERO);
    await window.picture("predict");
    assert.equal(zero.digit, "0");
    assert.ok(zero.probability > 0.9, `${zero.probability}`);
    await window.click("Clear");
    const scribble = await window.draw(SCRIBBLE);
    await window.picture("scribble");
    assert.ok(scribble.mi > 2 * zero.mi, `${scribble.mi} and ${zero.mi}`);
  });
  await test("a broken file is told, and what was open stays", async () => {
    await window.drop("broken.safetensors", damaged(posterior));
    const status = await window.until("notice", (now) => now.notice);
    assert.match(status.notice, /broken\.safetensors.*checksum/i);
    await window.picture("broken");
    await window.click("Dismiss");
    await window.until("silence", (now) => !now.notice);
    assert.equal(status.happened.files, 1);
  });
  await test("a posterior file that was made natively opens", async () => {
    await window.drop("posterior.safetensors", readFileSync(posterior));
    const status = await window.until("network", (now) => now.happened.files === 2 && !now.busy);
    assert.equal(status.notice, null);
    assert.equal(status.page, "Posterior");
    await window.picture("posterior");
    // What it started from came with the page.
    assert.deepEqual(await window.labels(/How far it moved is not known/), []);
  });
  if (name === "webgpu") {
    await test("WebGPU computes where it is asked to, though it is software", async () => {
      await window.click("Device");
      await window.click("WebGPU");
      const status = await window.until("network", (now) => now.happened.files === 3 && !now.busy);
      assert.match(status.device, /^WebGPU: .* software/);
    });
    await test("its answer on WebGPU is that of the CPU", async () => {
      const [digit, probability, mi] = (await window.status()).happened.answer;
      const before = (await window.status()).happened.answers;
      // The scribble of the canvas is asked about anew.
      await window.click("Predict");
      const { happened } = await window.until("answer", (now) => now.happened.answers > before && !now.busy);
      assert.equal(happened.answer[0], digit);
      assert.ok(Math.abs(happened.answer[1] - probability) < 1e-3, `${happened.answer[1]} and ${probability}`);
      assert.ok(Math.abs(happened.answer[2] - mi) < 1e-3, `${happened.answer[2]} and ${mi}`);
    });
  }
  await test("a click begins to learn, and the page stays alive", async () => {
    const pipelines = async () => sum(await everywhere(page, () => globalThis.pipelines));
    const before = await pipelines();
    const click = performance.now();
    await window.click("Fine-tune here");
    const begun = await window.until("first step", (now) => now.happened.losses.length > 0, LONG);
    const start = performance.now();
    const compiled = `${(await pipelines()) - before} pipelines were made for it, after ${before} for other things`;
    console.log(`    the first step is done after ${((start - click) / 1000).toFixed(1)} s; ${compiled}`);
    assert.ok(start - click < FIRST_STEP_MS, `${start - click} ms`);
    const enough = ({ happened }) => {
      const least = performance.now() - start < PATIENCE_MS ? STEPS : LEAST_STEPS;
      return happened.step >= begun.happened.step + least;
    };
    const status = await window.until("steps", enough, LONG);
    const ms = (performance.now() - start) / (status.happened.step - begun.happened.step);
    assertSteady(status.happened.losses);
    tellSpeed(ms, status.device, program, demo, name);
    const { mean, longest } = await window.frameTimes();
    console.log(`    meanwhile it is drawn every ${mean.toFixed(0)} ms, at the worst after ${longest.toFixed(0)} ms`);
    await window.picture("training");
  });
  if (name === "cpu") {
    await test("a hidden tab rests, and goes on when it is seen again", async () => {
      await window.hide(true);
      // The step that it is in ends.
      await rest(1_000);
      const resting = (await window.status()).happened.step;
      await rest(2_000);
      assert.equal((await window.status()).happened.step, resting);
      await window.hide(false);
      await window.until("step", (now) => now.happened.step > resting);
    });
  }
  await test("a run that is stopped stops", async () => {
    await window.click("Stop");
    await window.until("end", (now) => !now.running, LONG);
  });
  let learnt;
  await test("what it has learnt so far opens natively, and says the same", async () => {
    learnt = await window.download(() => window.click("Download run so far"), "learnt");
    assert.ok(!readFileSync(learnt).equals(readFileSync(posterior)));
    const pixels = Uint8Array.from({ length: 64 }, (_, at) => (at * 29 + 5) % 256);
    const picture = join(import.meta.dirname, "picture.pgm");
    writePicture(picture, 8, pixels);
    assertSame(await predictInTab(page, learnt, 8, pixels, name), predictNatively(program, learnt, picture));
  });
  if (name === "webgpu") {
    await test("a run whose device is lost says so, and goes on upon a new one", () => loseDevice(window));
    await test("a GPU without memory ends the run alone", () => exhaustDevice(window, complaints));
    await test("a GPU that is lost again and again is left alone", () => loseDeviceForGood(window));
  }
  await test("nobody complained", async () => assertNoComplaints(complaints));
  if (name === "cpu") {
    await test("a module that stops says why, and gives out what was saved", async () => {
      // More than it can have: the failure of its allocator.
      await page.evaluate(() => {
        const { give } = globalThis.bayesadapter.constructor;
        setTimeout(() => give("huge", new Uint8Array(2 ** 31)));
      });
      const message = page.locator('#message[data-state="failed"]');
      assert.match(await message.textContent(), /memory of this tab is used up/);
      const rescued = await window.download(() => page.locator("#rescue button").click(), "rescued");
      assert.ok(readFileSync(rescued).equals(readFileSync(learnt)));
    });
    await test("what a panic says is told without the place in the source", async () => {
      await page.evaluate(() => {
        globalThis.bayesadapter.failure = () => "panicked at some/device_poison.rs:12:34:\nno memory is left";
        dispatchEvent(new ErrorEvent("error", { error: new Error("unreachable") }));
      });
      const told = await page.locator("#message").textContent();
      assert.equal(told, "The program has stopped: no memory is left. Reload the page to begin again.");
    });
    await test("a browser without WebAssembly is told so", async () => {
      const { page } = await openTab(browser);
      await page.addInitScript(() => delete globalThis.WebAssembly);
      await page.goto(url);
      const message = page.locator('#message[data-state="failed"]');
      assert.match(await message.textContent(), /no WebAssembly with SIMD/);
      await page.close();
    });
    await test("an old browser is told so", async () => {
      await page.addInitScript(() => delete String.prototype.replaceAll);
      await page.route("**/page.js", (route) => route.fulfill({ contentType: "text/javascript", body: "" }));
      await page.goto(url);
      assert.match(await page.locator("#message").textContent(), /too old/);
    });
  }
  await page.close();
}

/** Starts the demo's run on WebGPU again, and stops it when something is saved; returns the step. */
async function saveSomething(window) {
  await window.click("Fine-tune here");
  await window.until("begin", (now) => now.running && now.happened.losses.length === 0, LONG);
  await window.until("step", (now) => now.happened.losses.length > 0, LONG);
  await window.click("Stop");
  return (await window.until("end", (now) => !now.running, LONG)).happened.step;
}

/** Lets the run that was stopped at a step go on beyond it. */
async function goOn(window, step) {
  await window.click("Continue");
  await window.until("step", (now) => now.running && now.happened.step > step, LONG);
}

function destroyDevices() {
  globalThis.devices.splice(0).forEach((device) => device.destroy());
}

/** Takes the GPU from a run that saved something, and from the page. */
async function loseDevice(window) {
  const saved = await saveSomething(window);
  await goOn(window, saved);
  const { files } = (await window.status()).happened;
  await everywhere(window.page, destroyDevices);
  const lost = await window.until("end", (now) => !now.running, LONG);
  // Of the run, and not of the network that is shown.
  assert.match(lost.notice, /^the device failed: .*The last saved state is whole/);
  await window.until("network again", (now) => now.happened.files > files && !now.busy, LONG);
  await window.picture("lost");
  await window.click("Dismiss");
  const file = await window.download(() => window.click("Download run so far"), "lost");
  await window.click("Training");
  await goOn(window, saved + 1);
  assert.match((await window.status()).device, /^WebGPU: /);
  await window.click("Stop");
  await window.until("end", (now) => !now.running, LONG);
  const { happened } = await window.status();
  await window.drop("lost.safetensors", readFileSync(file));
  await window.until("network", (now) => now.happened.files > happened.files && !now.busy && !now.notice);
}

/** Lets a GPU have no memory left while a run goes on. */
async function exhaustDevice(window, complaints) {
  const saved = await saveSomething(window);
  await goOn(window, saved);
  const [thread] = window.page.workers();
  await thread.evaluate(() => {
    // As a browser tells it: there is a buffer all the same, of which nothing becomes.
    const { createBuffer } = GPUDevice.prototype;
    GPUDevice.prototype.createBuffer = function (descriptor) {
      const error = new GPUOutOfMemoryError("no memory of the GPU is left");
      this.dispatchEvent(new GPUUncapturedErrorEvent("uncapturederror", { error }));
      return createBuffer.call(this, descriptor);
    };
    // Buffers that are free are used again, so that none may be asked for.
    const usage = GPUBufferUsage.COPY_DST;
    globalThis.devices.forEach((device) => device.createBuffer({ size: 4, usage }));
  });
  const ended = await window.until("end", (now) => !now.running, LONG);
  assert.match(ended.notice, /memory/i);
  assert.match(ended.notice, /^the run has stopped: .*What was saved stays.* smaller batch/);
  await window.picture("exhausted");
  // The module of the run says in the console what ended it.
  for (const complaint of complaints.splice(0)) {
    assert.match(complaint, /Out of Memory|unreachable/);
  }
  await window.click("Dismiss");
  await window.click("Training");
  await goOn(window, saved);
  await window.click("Stop");
  await window.until("end", (now) => !now.running, LONG);
}

/** Loses the GPU of the page so often that it is not opened again by itself. */
async function loseDeviceForGood(window) {
  await window.click("Predict");
  while (/^WebGPU: /.test((await window.status()).device)) {
    const { files } = (await window.status()).happened;
    await everywhere(window.page, destroyDevices);
    await window.click("Clear");
    await window.draw(SCRIBBLE);
    await window.until("network again", (now) => now.happened.files > files && !now.busy, LONG);
  }
  const status = await window.status();
  assert.match(status.device, /^the CPU, since WebGPU .* was lost 3 times/);
}
