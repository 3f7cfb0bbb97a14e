// The window in a tab: what a visitor does, and sees.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assertSame, predictInTab, predictNatively, writePicture } from "./api.mjs";
import { assertNoComplaints, openTab, until } from "./tab.mjs";

/** A zero, and something that is no digit; in shares of the canvas. */
const ZERO = Array.from({ length: 25 }, (_, at) => {
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

/** Steps of training that are waited for: few where the GPU is software and takes seconds for one. */
const STEPS = { webgpu: 3, cpu: 20 };

/** Software WebGPU is slow, and so are two busy cores. */
const LONG = { timeout: 600_000 };

class Window {
  constructor(page, name) {
    this.page = page;
    this.name = name;
  }

  async status() {
    return this.page.evaluate(() => JSON.parse(globalThis.bayesadapter?.status() ?? "null"));
  }

  /** Waits until something is so. */
  async until(what, holds, options) {
    return until(what, async () => {
      const status = await this.status();
      return status && holds(status) ? status : undefined;
    }, options);
  }

  async places() {
    return this.page.evaluate(() => JSON.parse(globalThis.bayesadapter?.outline() ?? "[]"));
  }

  /** The place of a widget. */
  async place(label) {
    return until(`widget "${label}"`, async () => {
      const found = (await this.places()).find((place) => place.label === label);
      return found?.rect;
    }, { timeout: 20_000 });
  }

  async click(label) {
    const [left, top, right, bottom] = await this.place(label);
    await this.page.mouse.click((left + right) / 2, (top + bottom) / 2);
  }

  async draw(stroke) {
    const [left, top, right, bottom] = await this.place("Canvas");
    const at = ([x, y]) => [left + x * (right - left), top + y * (bottom - top)];
    const before = (await this.status()).happened.answers;
    await this.page.mouse.move(...at(stroke[0]));
    await this.page.mouse.down();
    for (const point of stroke.slice(1)) {
      await this.page.mouse.move(...at(point), { steps: 2 });
    }
    await this.page.mouse.up();
    const status = await this.until(
      "answer",
      (now) => now.happened.answers > before && !now.busy,
    );
    const [digit, probability, mi] = status.happened.answer;
    return { digit, probability, mi };
  }

  /** Drops a file, as a visitor's mouse would. */
  async drop(name, bytes) {
    await this.page.evaluate(
      ({ name, bytes }) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([Uint8Array.from(bytes)], name));
        const canvas = document.querySelector("#window");
        for (const kind of ["dragover", "drop"]) {
          canvas.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer }));
        }
      },
      { name, bytes: [...bytes] },
    );
  }

  async picture(name) {
    await this.page.screenshot({ path: join(import.meta.dirname, `${this.name}-${name}.png`) });
  }
}

/** Milliseconds of a step of the native program, with the settings of the demo. */
function stepNatively(program, demo, device) {
  const out = join(mkdtempSync(join(tmpdir(), "bayesadapter-")), "run");
  const weights = join(demo, "map/posterior.safetensors");
  const flags = ["--data", "few-digits", "--posterior", "pse", "--batch", "32", "--epochs", "1", "--draws", "1", "--json"];
  const given = ["finetune", "--weights", weights, ...flags, "--device", device, "--out", out];
  const lines = execFileSync(program, given, { encoding: "utf8" }).trim().split("\n");
  const progress = lines.map((line) => JSON.parse(line)).filter((line) => line.event === "progress");
  return 32_000 / progress.at(-1).examples_per_second;
}

function tellSpeed(ms, device, program, demo) {
  const ratio = ms / stepNatively(program, demo, "cpu");
  console.log(`    a step of 32 digits takes ${ms.toFixed(1)} ms in the tab, ${ratio.toFixed(2)} times`);
  console.log(`    as long as natively on the CPU; ${device}`);
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
    const broken = readFileSync(posterior);
    broken[broken.length - 1] ^= 1;
    await window.drop("broken.safetensors", broken);
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
  });
  if (name === "webgpu") {
    await test("WebGPU computes where it is asked to, though it is software", async () => {
      await window.click("Device");
      await window.click("WebGPU");
      const status = await window.until("network", (now) => now.happened.files === 3 && !now.busy);
      assert.match(status.device, /^WebGPU: /);
    });
  }
  await test(`it learns for ${STEPS[name]} steps`, async () => {
    await window.click("Start");
    await window.picture("start");
    await window.click("Digits demo");
    const begun = await window.until("first step", (now) => now.happened.losses.length > 0, LONG);
    const start = performance.now();
    const status = await window.until("steps", (now) => now.happened.step >= begun.happened.step + STEPS[name], LONG);
    const ms = (performance.now() - start) / (status.happened.step - begun.happened.step);
    tellSpeed(ms, status.device, program, demo);
    // The network that it starts from knows its training digits: the loss must stay small.
    const { losses } = status.happened;
    assert.ok(losses.every((loss) => loss >= 0 && loss < 0.1), `${losses}`);
    await window.picture("training");
  });
  await test("a run that is stopped stops", async () => {
    await window.click("Stop");
    await window.until("end", (now) => !now.running, LONG);
  });
  await test("what is downloaded opens natively, and says the same", async () => {
    const waiting = page.waitForEvent("download");
    await window.click("Download posterior");
    const file = join(import.meta.dirname, `${name}-downloaded.safetensors`);
    await (await waiting).saveAs(file);
    const pixels = Uint8Array.from({ length: 64 }, (_, at) => (at * 29 + 5) % 256);
    const picture = join(import.meta.dirname, "picture.pgm");
    writePicture(picture, 8, pixels);
    assertSame(await predictInTab(page, file, 8, pixels), predictNatively(program, file, picture));
  });
  await test("nobody complained", async () => assertNoComplaints(complaints));
  await page.close();
}
