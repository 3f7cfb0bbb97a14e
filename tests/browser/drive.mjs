// Opens the pages in headless Chromium and judges what they do, in the manner of `cargo test`: with WebGPU by a
// software adapter, and without WebGPU. Pictures of the window are left beside this file.
// Usage: node drive.mjs <chromium> <url> <bayesadapter> <demo folder> <folder of golden files>
import { chromium } from "playwright-core";
import { testApi } from "./api.mjs";
import { testFiles } from "./files.mjs";
import { testFinger } from "./finger.mjs";
import { testLearning } from "./learning.mjs";
import { testOps } from "./ops.mjs";
import { testOwn } from "./own.mjs";
import { testWindow } from "./window.mjs";

const ARGUMENTS = [
  // CI runs as root in a container, where Chromium's sandbox cannot start. The page is our own.
  "--no-sandbox",
  // No traffic but that of the test.
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

const BROWSERS = {
  webgpu: ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"],
  cpu: ["--disable-features=WebGPU", "--disable-blink-features=WebGPU"],
};

/** Runs tests one after the other and counts. */
class Report {
  passed = 0;
  failed = 0;

  async test(name, run) {
    const start = performance.now();
    try {
      await run();
      this.passed += 1;
      console.log(`test ${name} ... ok (${((performance.now() - start) / 1000).toFixed(1)} s)`);
    } catch (error) {
      this.failed += 1;
      console.log(`test ${name} ... FAILED\n    ${error.stack ?? error}`);
    }
  }

  conclude() {
    const verdict = this.failed ? "FAILED" : "ok";
    console.log(`\ntest result: ${verdict}. ${this.passed} passed; ${this.failed} failed`);
    return this.failed;
  }
}

const [executablePath, url, program, demo, golden] = process.argv.slice(2);
if (!golden) {
  console.error("usage: node drive.mjs <chromium> <url> <bayesadapter> <demo folder> <folder of golden files>");
  process.exit(2);
}
const report = new Report();
for (const [name, extra] of Object.entries(BROWSERS)) {
  console.log(`\nrunning tests in Chromium, ${name}`);
  const browser = await chromium.launch({ executablePath, args: [...ARGUMENTS, ...extra] });
  try {
    const setting = { browser, url, program, demo, golden, name };
    await testApi(report, setting);
    await testWindow(report, setting);
    if (name === "webgpu") {
      await testLearning(report, setting);
      await testOps(report, setting);
    } else {
      // Whole runs: a GPU in software would take half an hour.
      await testOwn(report, setting);
      await testFiles(report, setting);
      await testFinger(report, setting);
    }
  } finally {
    await browser.close();
  }
}
process.exitCode = report.conclude() > 0 ? 1 : 0;
