// Shows what the WebAssembly module reports. The state of #verdict (running, passed, failed) and
// `window.report` are what the browser tests read.
import init, { check_ops } from "./bayesadapter.js";

const verdict = document.querySelector("#verdict");

function conclude(state, text) {
  verdict.textContent = text;
  verdict.dataset.state = state;
}

function show(rows) {
  const body = document.querySelector("tbody");
  for (const row of rows) {
    const line = body.insertRow();
    const cells = [
      row.op,
      row.source,
      row.result,
      row.max_difference?.toExponential(1) ?? "not finite",
      row.magnitude?.toPrecision(3) ?? "not finite",
    ];
    for (const cell of cells) {
      line.insertCell().textContent = cell;
    }
    const outcome = line.insertCell();
    outcome.textContent = row.pass ? "agrees" : "DIFFERS";
    outcome.dataset.state = row.pass ? "passed" : "failed";
  }
  document.querySelector("table").hidden = false;
}

try {
  const loading = performance.now();
  await init();
  verdict.textContent = "Computing…";
  const start = performance.now();
  const { adapter, rows } = JSON.parse(await check_ops());
  const end = performance.now();
  document.querySelector("#adapter").textContent = `Device: ${adapter}`;
  window.report = { adapter, loadingMs: start - loading, computingMs: end - start, rows };
  show(rows);
  const differing = rows.filter((row) => !row.pass).length;
  const seconds = ((end - start) / 1000).toFixed(1);
  if (rows.length === 0) {
    conclude("failed", "Nothing was compared.");
  } else if (differing > 0) {
    conclude("failed", `${differing} of ${rows.length} results differ.`);
  } else {
    conclude("passed", `All ${rows.length} results agree (${seconds} s).`);
  }
} catch (error) {
  // Shown to the visitor, and left in the console with its stack.
  conclude("failed", String(error.message ?? error));
  console.error(error);
}
