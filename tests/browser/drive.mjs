// Opens the page in headless Chromium and judges what it reports, in the manner of `cargo test`.
// Usage: node drive.mjs <chromium> <url>
import { chromium } from "playwright-core";

// Software WebGPU is slow, and so are two busy cores.
const TIMEOUT_MS = 300_000;

const ARGUMENTS = [
  // CI runs as root in a container, where Chromium's sandbox cannot start. The page is our own.
  "--no-sandbox",
  // WebGPU without a GPU.
  "--enable-unsafe-webgpu",
  "--use-webgpu-adapter=swiftshader",
  // No traffic but that of the test.
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

/** Collects everything a page complains about; `broken` resolves when no verdict can be expected. */
function listen(page) {
  const complaints = [];
  const broken = new Promise((resolve) => {
    const fatal = (complaint) => {
      complaints.push(complaint);
      resolve();
    };
    page.on("pageerror", (error) => fatal(`page error: ${error.stack ?? error}`));
    page.on("crash", () => fatal("the page crashed"));
    page.on("requestfailed", (request) => {
      fatal(`${request.url()}: ${request.failure()?.errorText}`);
    });
  });
  page.on("console", (message) => {
    console.log(`[${message.type()}] ${message.text()}`);
    if (message.type() === "error") {
      complaints.push(`console error: ${message.text()}`);
    }
  });
  return { complaints, broken };
}

/** Opens the page, waits for its verdict and returns its report with its complaints. */
async function visit(browser, url) {
  const page = await browser.newPage();
  const { complaints, broken } = listen(page);
  await page.goto(url);
  const verdict = page.locator('#verdict:not([data-state="running"])').waitFor({
    timeout: TIMEOUT_MS,
  });
  const timeout = (error) => complaints.push(`no verdict: ${error.message.split("\n")[0]}`);
  await Promise.race([verdict.catch(timeout), broken]);
  const outcome = await page
    .evaluate(() => {
      const { dataset, textContent } = document.querySelector("#verdict");
      return { report: window.report, state: dataset.state, text: textContent };
    })
    .catch((error) => ({ text: `nothing (${error.message})` }));
  if (outcome.state !== "passed") {
    complaints.push(`the page says: ${outcome.text}`);
  }
  return { report: outcome.report, complaints };
}

/** One line per op and weight source, then the rest. Returns the number of failures. */
function judge({ report, complaints }) {
  const tests = new Map();
  for (const row of report?.rows ?? []) {
    const name = `${row.op} (${row.source})`;
    tests.set(name, [...(tests.get(name) ?? []), row]);
  }
  console.log(`\nrunning ${tests.size + 1} tests on ${report?.adapter ?? "no adapter"}`);
  let failed = 0;
  for (const [name, rows] of tests) {
    const differing = rows.filter((row) => !row.pass);
    failed += differing.length > 0 ? 1 : 0;
    console.log(`test webgpu agrees with cpu: ${name} ... ${differing.length ? "FAILED" : "ok"}`);
    for (const row of differing) {
      console.log(`    ${row.result}: off by ${row.max_difference} at magnitude ${row.magnitude}`);
    }
  }
  failed += complaints.length > 0 ? 1 : 0;
  console.log(`test page without complaints ... ${complaints.length ? "FAILED" : "ok"}`);
  for (const complaint of complaints) {
    console.log(`    ${complaint}`);
  }
  const passed = tests.size + 1 - failed;
  console.log(
    `\ntest result: ${failed ? "FAILED" : "ok"}. ${passed} passed; ${failed} failed; 0 ignored; ` +
      `0 measured; 0 filtered out; computed in ${((report?.computingMs ?? 0) / 1000).toFixed(2)}s`,
  );
  return failed;
}

const [executablePath, url] = process.argv.slice(2);
if (!executablePath || !url) {
  console.error("usage: node drive.mjs <chromium> <url>");
  process.exit(2);
}
const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
try {
  process.exitCode = judge(await visit(browser, url)) > 0 ? 1 : 0;
} finally {
  await browser.close();
}
