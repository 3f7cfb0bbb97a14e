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

/** The file with one bit that is another. */
export function damaged(file) {
  const bytes = readFileSync(file);
  bytes[bytes.length - 1] ^= 1;
  return bytes;
}

/** What the native program says of a picture, again and again. */
function askNatively(program, posterior, picture, device, times) {
  const flags = ["--draws", String(DRAWS), "--device", device, "--json"];
  const pictures = Array(times).fill(picture);
  const lines = execFileSync(program, ["predict", posterior, ...pictures, ...flags], { encoding: "utf8" });
  return JSON.parse(lines.slice(0, lines.indexOf("\n")));
}

export function predictNatively(program, posterior, picture) {
  return askNatively(program, posterior, picture, "cpu", 1);
}

/** Milliseconds that an answer takes natively, without the start of the program; the best of some tries. */
function nativeMs(program, posterior, picture, device) {
  const more = device === "cpu" ? 1000 : 50;
  const time = (times) => {
    const start = performance.now();
    askNatively(program, posterior, picture, device, times);
    return performance.now() - start;
  };
  const best = (times) => Math.min(...[1, 2, 3].map(() => time(times)));
  return (best(5 + more) - best(5)) / more;
}

/** What a page says of the same, by the library for other pages. */
export function predictInTab(page, posterior, side, pixels, device = "cpu") {
  return page.evaluate(
    async ({ file, side, pixels, draws, device }) => {
      const { load } = await import("./bayesadapter-api.js");
      const network = await load(Uint8Array.from(file), { device });
      const image = { width: side, height: side, data: Uint8Array.from(pixels) };
      await network.predict(image, draws);
      const start = performance.now();
      const found = await network.predict(image, draws);
      const ms = performance.now() - start;
      network.free();
      const { mi, entropy } = found;
      return { probabilities: [...found.probabilities], draws: found.draws.length, mi, entropy, ms };
    },
    { file: [...readFileSync(posterior)], side, pixels: [...pixels], draws: DRAWS, device },
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

/** The devices of a browser, and what they are called natively. */
const DEVICES = { webgpu: { cpu: "cpu", webgpu: "gpu" }, cpu: { cpu: "cpu" } };

/** What `load` or `predict` complains about. */
function complaint(page, file, image, draws, options) {
  return page.evaluate(
    async ({ file, image, draws, options }) => {
      const { load } = await import("./bayesadapter-api.js");
      try {
        const network = await load(Uint8Array.from(file), options);
        await network.predict({ ...image, data: Uint8Array.from(image.data) }, draws);
        return "none";
      } catch (error) {
        return error.message;
      }
    },
    { file: [...file], image, draws, options },
  );
}

export async function testApi(report, { browser, url, program, demo, name }) {
  const { page, complaints } = await openTab(browser);
  const posterior = join(demo, "pse/posterior.safetensors");
  await report.test("api: the example page predicts a seven", async () => {
    await page.goto(`${url}example.html`);
    const text = await until("answer", async () => (await page.locator("body").textContent()).trim());
    assert.match(text, /^7, mutual information \d/);
    assertNoComplaints(complaints);
  });
  const pixels = Uint8Array.from({ length: 64 }, (_, at) => (at * 37 + 11) % 256);
  const picture = join(import.meta.dirname, "picture.pgm");
  writePicture(picture, 8, pixels);
  for (const [device, natively] of Object.entries(DEVICES[name])) {
    await report.test(`api: the numbers of the native program, draw for draw, on ${device}`, async () => {
      const found = await predictInTab(page, posterior, 8, pixels, device);
      assertSame(found, predictNatively(program, posterior, picture));
      const ratio = found.ms / nativeMs(program, posterior, picture, natively);
      const times = `${ratio.toFixed(2)} times as long as natively with --device ${natively}`;
      console.log(`    S = ${DRAWS} draws of a digit on ${device}: ${found.ms.toFixed(1)} ms in the tab, ${times}`);
    });
  }
  await report.test("api: what cannot be used is refused with the reason", async () => {
    const file = readFileSync(posterior);
    const image = { width: 8, height: 8, data: [...pixels] };
    assert.match(await complaint(page, damaged(posterior), image, 20), /checksum/i);
    assert.match(await complaint(page, file, image, -1), /draws is -1; give a whole number/);
    assert.match(await complaint(page, file, image, 1e9), /draws is 1000000000/);
    assert.match(await complaint(page, file, { ...image, width: 9 }, 20), /picture is 9 x 8 with 64 bytes/);
    assert.match(await complaint(page, file, image, 20, { device: "tpu" }), /choose "cpu" or "webgpu"/);
    if (name === "cpu") {
      assert.match(await complaint(page, file, image, 20, { device: "webgpu" }), /offers no WebGPU/);
    }
  });
  await page.close();
}
