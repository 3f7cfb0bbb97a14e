// What a visitor drops: of every kind, several at once, and such as cannot be used.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writePicture } from "./api.mjs";
import { assertNoComplaints, openTab, until } from "./tab.mjs";
import { Window } from "./widgets.mjs";

/** Writes a folder of black and white pictures, and an empty one. */
function prepare() {
  const folder = mkdtempSync(join(tmpdir(), "bayesadapter-"));
  const [pictures, empty] = ["pictures", "empty"].map((name) => join(folder, name));
  mkdirSync(empty);
  for (const [name, grey] of Object.entries({ black: 10, white: 240 })) {
    mkdirSync(join(pictures, name), { recursive: true });
    for (let number = 0; number < 20; number += 1) {
      writePicture(join(pictures, name, `${number}.pgm`), 8, Array(64).fill(grey + number / 2));
    }
  }
  return { pictures, empty };
}

/** Makes a network that is neither the demo's nor what that started from. */
function another(program, demo) {
  const out = join(mkdtempSync(join(tmpdir(), "bayesadapter-")), "run");
  const weights = join(demo, "map", "posterior.safetensors");
  const flags = ["--data", "few-digits", "--posterior", "mfg", "--epochs", "1", "--draws", "1", "--device", "cpu"];
  execFileSync(program, ["finetune", "--weights", weights, ...flags, "--out", out, "--quiet"]);
  return join(out, "posterior.safetensors");
}

export async function testFiles(report, { browser, url, program, demo, golden, name }) {
  const { page, complaints } = await openTab(browser);
  const window = new Window(page, name);
  const test = (what, run) => report.test(`files: ${what}`, run);
  const checkpoint = (file) => readFileSync(join(golden, "checkpoints", file));
  const posterior = join(demo, "pse", "posterior.safetensors");

  await test("a checkpoint of PyTorch is read, and one that wants to run something is refused", async () => {
    await page.goto(url);
    await window.until("network", (now) => now.happened.opened && !now.busy);
    await window.drop("network.pth", checkpoint("zip.pt"));
    await window.until("page for it", (now) => now.page === "Set up");
    // It is of another network than the one that is set up.
    await until("account", async () => (await window.labels(/^PyTorch: \d+ parameters fit, others do not/)).length > 0);
    await window.drop("evil.pth", checkpoint("system.pt"));
    const { notice } = await window.until("refusal", (now) => now.notice);
    assert.match(notice, /system/);
    await window.click("Dismiss");
  });
  await test("a file that is dropped beside a folder is taken too, and an empty folder is told", async () => {
    const { pictures, empty } = prepare();
    const { files } = (await window.status()).happened;
    await window.dropFolder(pictures, posterior);
    await window.until("network", (now) => now.happened.files > files && !now.busy);
    await window.click("Set up");
    await window.place("32 training images, 4 for validation, 4 test images, 2 classes");
    await window.dropFolder(empty);
    const { notice } = await window.until("complaint", (now) => now.notice);
    assert.match(notice, /the folder empty has no files in it/);
    await window.click("Dismiss");
  });
  await test("two files of one name are two networks", async () => {
    await window.click("Compare");
    const networks = async () => (await window.labels(/^Remove /)).length;
    // In one place, the second would take the rows of the first.
    for (const file of [posterior, another(program, demo)]) {
      const before = await networks();
      await window.drop("posterior.safetensors", readFileSync(file));
      await until("network", async () => (await networks()) > before);
    }
    assertNoComplaints(complaints);
  });
  await page.close();
}
