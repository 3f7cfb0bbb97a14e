// Loads the module with its demo, and draws the window. `window.bayesadapter` looks into it: see the class `Page` in
// web/src/entry.rs.
const veil = document.querySelector("#veil");
const message = document.querySelector("#message");
const progress = document.querySelector("#progress");
const rescue = document.querySelector("#rescue");

/** WebAssembly with 128-bit SIMD: the smallest module that uses it. */
function supported() {
  const probe = [
    0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
  ];
  return typeof WebAssembly === "object" && WebAssembly.validate(new Uint8Array(probe));
}

/** The module's own half, once it is there. */
let glue;

function fail(text) {
  veil.hidden = false;
  progress.hidden = true;
  message.dataset.state = "failed";
  message.textContent = text;
  rescue.hidden = !hasSaved();
}

/** A file of this folder. */
async function fetched(name) {
  const response = await fetch(new URL(name, import.meta.url));
  if (!response.ok) {
    throw new Error(`${name} cannot be loaded (${response.status}); is the folder whole?`);
  }
  return response;
}

/** Every file of this folder with its size. */
const sizes = fetched("sizes.json").then((response) => response.json());

async function bytesOf(name) {
  return new Uint8Array(await (await fetched(name)).arrayBuffer());
}

/** The module, which the browser compiles while it comes; the bar shows how much of it is there. */
async function moduleWithProgress() {
  const name = "bayesadapter_bg.wasm";
  const [response, all] = await Promise.all([fetched(name), sizes]);
  let loaded = 0;
  const count = new TransformStream({
    transform(part, controller) {
      loaded += part.length;
      progress.value = loaded / all[name];
      message.textContent = `Loading… ${Math.round(100 * progress.value)} %`;
      controller.enqueue(part);
    },
  });
  const headers = { "Content-Type": "application/wasm" };
  return new Response(response.body.pipeThrough(count), { headers });
}

async function open() {
  if (!supported()) {
    throw new Error(
      "This browser has no WebAssembly with SIMD, which this page computes by. " +
        "A current Chrome, Edge, Firefox or Safari has it.",
    );
  }
  glue = await import("./bayesadapter.js");
  const demo = sizes.then((all) => Object.keys(all).filter((name) => name.startsWith("demo/")));
  const [names, files] = await Promise.all([
    demo,
    demo.then((names) => Promise.all(names.map(bytesOf))),
    glue.default({ module_or_path: moduleWithProgress() }),
  ]);
  message.textContent = "Starting…";
  names.forEach((name, at) => glue.Page.give(name, files[at]));
  globalThis.bayesadapter = await glue.Page.open(document.querySelector("#window"));
  veil.hidden = true;
}

/** What a module that trapped still answers. */
function afterAll(ask) {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

/** Memory that there is none left of ends the module without a word of its own. */
const NO_MEMORY =
  "most likely the memory of this tab is used up; a smaller batch, network or set of pictures needs less";

/** What a panic says, without the place in the source that it begins with. */
function withoutPlace(panic) {
  return panic?.replace(/^panicked at [^\n]*\n/, "");
}

/** Tells if the module cannot go on after an error that nobody caught. */
function broken(error) {
  const failure = withoutPlace(afterAll(() => globalThis.bayesadapter?.failure()));
  if (failure || error instanceof WebAssembly.RuntimeError || error instanceof RangeError) {
    fail(`The program has stopped: ${failure ?? NO_MEMORY}. Reload the page to begin again.`);
  }
}

/** Whether a run saved something. The memory of a module that failed can still be read. */
function hasSaved() {
  return afterAll(() => glue?.Page.has_saved()) ?? false;
}

rescue.querySelector("button").addEventListener("click", () => glue.Page.rescue());
addEventListener("error", (event) => broken(event.error));
addEventListener("unhandledrejection", (event) => broken(event.reason));

open().catch((error) => {
  fail(String(error.message ?? error));
  console.error(error);
});
