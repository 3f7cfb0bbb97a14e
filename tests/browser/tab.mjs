// A tab, and what it complains about.
import assert from "node:assert/strict";

/** Opens a tab that collects complaints. */
export async function openTab(browser, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(`page error: ${error.stack ?? error}`));
  page.on("crash", () => complaints.push("the page crashed"));
  page.on("requestfailed", (request) => {
    complaints.push(`${request.url()}: ${request.failure()?.errorText}`);
  });
  page.on("console", (message) => {
    if (message.type() === "error") {
      complaints.push(`console error: ${message.text()}`);
    }
  });
  return { page, complaints };
}

export function assertNoComplaints(complaints) {
  assert.deepEqual(complaints, []);
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
    await new Promise((done) => setTimeout(done, 100));
  } while (performance.now() < end);
  throw new Error(`no ${what} within ${timeout / 1000} s`);
}
