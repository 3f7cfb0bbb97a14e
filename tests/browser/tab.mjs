// A tab, and what it complains about.
import assert from "node:assert/strict";

/** Opens a tab that collects complaints. */
export async function openTab(browser, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
  const complaints = [];
  await page.addInitScript(lookAtGpu);
  // Long before a thread has loaded its module and opens a device.
  page.on("worker", (thread) => thread.evaluate(lookAtGpu).catch((error) => complaints.push(`thread: ${error}`)));
  page.on("pageerror", (error) => complaints.push(`page error: ${error.stack ?? error}`));
  page.on("crash", () => complaints.push("the page crashed"));
  page.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol.startsWith("http") && hostname !== "127.0.0.1") {
      complaints.push(`asked of another server: ${request.url()}`);
    }
  });
  page.on("requestfailed", (request) => {
    // Chromium calls a body aborted now and then whose stream the page has read to its end. A file that did not come
    // leaves another error, or a page that does not open.
    const error = request.failure()?.errorText;
    if (error !== "net::ERR_ABORTED") {
      complaints.push(`${request.url()}: ${error}`);
    }
  });
  page.on("console", (message) => {
    if (message.type() === "error") {
      complaints.push(`console error: ${message.text()}`);
    }
  });
  return { page, complaints };
}

/** Keeps the GPU's devices within reach, so that a test can take them away, and counts the pipelines that are made. */
function lookAtGpu() {
  globalThis.devices = [];
  globalThis.pipelines = 0;
  const ask = globalThis.GPUAdapter?.prototype.requestDevice;
  if (ask) {
    GPUAdapter.prototype.requestDevice = async function (...given) {
      const device = await ask.apply(this, given);
      globalThis.devices.push(device);
      return device;
    };
  }
  for (const name of ["createComputePipeline", "createComputePipelineAsync"]) {
    const create = globalThis.GPUDevice?.prototype[name];
    if (create) {
      GPUDevice.prototype[name] = function (...given) {
        globalThis.pipelines += 1;
        return create.apply(this, given);
      };
    }
  }
}

/** Evaluates something in the page and in its threads. */
export function everywhere(page, ask) {
  return Promise.all([page, ...page.workers()].map((place) => place.evaluate(ask)));
}

export function assertNoComplaints(complaints) {
  assert.deepEqual(complaints, []);
}

export function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

export function mean(values) {
  return sum(values) / values.length;
}

export function rest(ms) {
  return new Promise((done) => setTimeout(done, ms));
}

/** Asks again and again until the answer satisfies. */
export async function until(what, ask, { timeout = 120_000 } = {}) {
  const end = performance.now() + timeout;
  let answer;
  do {
    answer = await ask();
    if (answer) {
      return answer;
    }
    await rest(100);
  } while (performance.now() < end);
  throw new Error(`no ${what} within ${timeout / 1000} s`);
}
