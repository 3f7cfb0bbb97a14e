// A visitor's own network and pictures: dropped, fine-tuned in the tab to the end, and judged.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writePicture } from "./api.mjs";
import { assertNoComplaints, mean, openTab } from "./tab.mjs";
import { Window } from "./widgets.mjs";

const SIDE = 8;
/** The classes: directions of stripes. */
const STRIPES = { across: [0, 1], along: [1, 0], slanted: [0.7, 0.7] };
/** Pictures of each class: three steps of an epoch, and some to judge by. */
const COUNTS = { train: 128, test: 20 };

/** Milliseconds between two pictures of the window after which it hangs. How fluent it is, depends on the computer. */
const LONGEST_FRAME_MS = 30_000;

/** The same random numbers every time, of which each is below one. */
function dice() {
  let state = 1;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

/** Writes a folder of noisy stripes, and weights that have seen them too briefly. */
function prepare(program) {
  const folder = mkdtempSync(join(tmpdir(), "bayesadapter-"));
  const [pictures, run, weights] = ["pictures", "run", "weights.safetensors"].map((name) => join(folder, name));
  const random = dice();
  for (const [split, count] of Object.entries(COUNTS)) {
    for (const [name, [dx, dy]] of Object.entries(STRIPES)) {
      const of = join(pictures, split, name);
      mkdirSync(of, { recursive: true });
      for (let number = 0; number < count; number += 1) {
        const phase = 2 * Math.PI * random();
        const pixel = (_, at) => {
          const along = (at % SIDE) * dx + Math.floor(at / SIDE) * dy;
          return 127.5 + 90 * Math.sin(phase + 1.6 * along) + 60 * (random() - 0.5);
        };
        writePicture(join(of, `${number}.pgm`), SIDE, Array.from({ length: SIDE * SIDE }, pixel));
      }
    }
  }
  const flags = ["--model", "digits-cnn", "--epochs", "1", "--draws", "1", "--device", "cpu", "--quiet"];
  execFileSync(program, ["pretrain", "--data", pictures, "--out", run, ...flags]);
  execFileSync(program, ["export", join(run, "posterior.safetensors"), "--out", weights, "--quiet"]);
  return { pictures, weights };
}

export async function testOwn(report, { browser, url, program, name }) {
  const { page, complaints } = await openTab(browser);
  const window = new Window(page, name);
  const test = (what, run) => report.test(`own network: ${what}`, run);

  await test("weights and a folder fit that are dropped, and another folder that is chosen", async () => {
    const { pictures, weights } = prepare(program);
    await page.goto(url);
    await window.until("network", (now) => now.happened.opened);
    await window.drop("weights.safetensors", readFileSync(weights));
    await window.until("page for it", (now) => now.page === "Set up");
    await window.dropFolder(pictures);
    await window.place("384 training images, 12 for validation, 48 test images, 3 classes");
    const fewer = `${pictures}-but-one`;
    cpSync(pictures, fewer, { recursive: true });
    rmSync(join(fewer, "test", "along", "0.pgm"));
    await window.choose("Folder…", fewer);
    await window.place("384 training images, 12 for validation, 47 test images, 3 classes");
    await window.picture("own");
  });
  await test("the loss falls, and the run comes to its end", async () => {
    const before = (await window.status()).happened.finished;
    const longestFrame = await window.watchFrames();
    await window.startRun();
    const { happened } = await window.until("end", (now) => now.happened.finished > before, { timeout: 600_000 });
    const { losses, step, steps } = happened;
    assert.ok(steps >= 20 && step === steps, `${step} of ${steps}`);
    const [first, last] = [mean(losses.slice(0, 3)), mean(losses.slice(-3))];
    assert.ok(last < 0.95 * first, `${losses}`);
    console.log(`    the loss fell from ${first.toFixed(3)} to ${last.toFixed(3)} in ${steps} steps`);
    assert.ok(happened.evaluations.some(([method]) => method === "PSE"), JSON.stringify(happened.evaluations));
    const longest = await longestFrame();
    console.log(`    while it learnt and was judged, the window was drawn at the worst after ${longest.toFixed(0)} ms`);
    assert.ok(longest < LONGEST_FRAME_MS, `${longest} ms`);
  });
  for (const view of ["Training", "Posterior", "Ensemble", "Uncertainty", "Calibration", "Predict", "Compare"]) {
    await test(`it is shown on the page ${view}`, async () => {
      await window.click(view);
      await window.until("page", (now) => now.page === view && !now.busy);
      assert.equal((await window.status()).notice, null);
      await window.picture(`own-${view.toLowerCase()}`);
    });
  }
  await test("nobody complained", async () => assertNoComplaints(complaints));
  await page.close();
}
