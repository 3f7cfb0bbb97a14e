// The library for other pages: the same numbers as the native program.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assertNoComplaints, openTab, until } from "./tab.mjs";

const DRAWS = 20;

/** A grey picture, as a file that the native program reads. */
export function writePicture(file, side, pixels) {
  writeFileSync(file, Buffer.concat([Buffer.from(`P5\n${side} ${side}\n255\n`), Buffer.from(pixels)]));
}

/** What the native program says of a picture. */
export function predictNatively(program, posterior, picture, draws = DRAWS) {
  const flags = ["--draws", String(draws), "--device", "cpu", "--json"];
  const line = execFileSync(program, ["predict", posterior, picture, ...flags], { encoding: "utf8" });
  return JSON.parse(line);
}

/** What a page says of the same, by the library for other pages. */
export function predictInTab(page, posterior, side, pixels, draws = DRAWS) {
  return page.evaluate(
    async ({ file, side, pixels, draws }) => {
      const { load } = await import("./bayesadapter-api.js");
      const network = await load(Uint8Array.from(file));
      const image = { width: side, height: side, data: Uint8Array.from(pixels) };
      await network.predict(image, draws);
      const start = performance.now();
      const found = await network.predict(image, draws);
      const ms = performance.now() - start;
      network.free();
      const { mi, entropy } = found;
      return { probabilities: [...found.probabilities], draws: found.draws.length, mi, entropy, ms };
    },
    { file: [...readFileSync(posterior)], side, pixels: [...pixels], draws },
  );
}

export function assertSame(found, expected) {
  assert.equal(found.draws, expected.draws);
  for (const [at, probability] of expected.probabilities.entries()) {
    const difference = Math.abs(found.probabilities[at] - probability);
    assert.ok(difference < 1e-4, `class ${at}: ${found.probabilities[at]} here, ${probability} natively`);
  }
  assert.ok(Math.abs(found.mi - expected.mutual_information) < 1e-4);
  assert.ok(Math.abs(found.entropy - expected.entropy) < 1e-4);
}

export async function testApi(report, { browser, url, program, demo }) {
  const { page, complaints } = await openTab(browser);
  const posterior = join(demo, "pse/posterior.safetensors");
  await report.test("api: the example page predicts a seven", async () => {
    await page.goto(`${url}example.html`);
    const text = await until("answer", () => page.locator("body").textContent());
    assert.match(text, /^7, mutual information \d/);
    assertNoComplaints(complaints);
  });
  await report.test("api: the numbers of the native program, draw for draw", async () => {
    const pixels = Uint8Array.from({ length: 64 }, (_, at) => (at * 37 + 11) % 256);
    const picture = join(import.meta.dirname, "picture.pgm");
    writePicture(picture, 8, pixels);
    const found = await predictInTab(page, posterior, 8, pixels);
    assertSame(found, predictNatively(program, posterior, picture));
    console.log(`    S = ${DRAWS} draws of a digit: ${found.ms.toFixed(1)} ms in the tab, on the CPU`);
  });
  await report.test("api: a broken file is refused with the reason", async () => {
    const broken = readFileSync(posterior);
    broken[broken.length - 1] ^= 1;
    const refused = await page.evaluate(async (bytes) => {
      const { load } = await import("./bayesadapter-api.js");
      return load(Uint8Array.from(bytes)).then(() => "accepted", (error) => error.message);
    }, [...broken]);
    assert.match(refused, /checksum/i);
  });
  await page.close();
}
