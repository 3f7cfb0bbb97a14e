// What the window asks of the browser.

const channel = new MessageChannel();
const waiting = [];
channel.port1.onmessage = () => waiting.shift()();

/** Whether nobody sees the page, and who waits for that to change. A thread has no document, and is told. */
let hidden = globalThis.document?.hidden ?? false;
const unveil = [];

function setHidden(now) {
  hidden = now;
  if (!hidden) {
    unveil.splice(0).forEach((wake) => wake());
  }
}

if (globalThis.document) {
  document.addEventListener("visibilitychange", () => setHidden(document.hidden));
} else {
  addEventListener("message", ({ data }) => setHidden(data?.hidden ?? hidden));
}

/**
 * Lets the browser draw and answer its user. In a hidden tab it takes until the tab is seen again, so that nobody's
 * battery works for a page that nobody looks at; the seconds of that come back. (Timers would wait for 4 ms or more at
 * every step.)
 */
export async function breathe() {
  const start = performance.now();
  let waited = 0;
  while (hidden) {
    await new Promise((wake) => unveil.push(wake));
    waited = performance.now() - start;
  }
  await new Promise((done) => {
    waiting.push(done);
    channel.port2.postMessage(null);
  });
  return waited / 1000;
}

/** A moment without work. */
export function rest() {
  return new Promise((done) => setTimeout(done, 20));
}

/**
 * The adapter that the browser would give: its name, and whether it is a GPU in software; undefined without one. One
 * that tells nothing of itself is of a browser from before WebGPU was settled, and cannot be opened.
 */
export async function adapter() {
  const found = await navigator.gpu?.requestAdapter().catch(() => null);
  if (!found?.info) {
    return undefined;
  }
  const { description, vendor, architecture } = found.info;
  const name = description || `${vendor} ${architecture}`.trim() || "unnamed adapter";
  const fallback = found.info.isFallbackAdapter ?? found.isFallbackAdapter ?? false;
  return { name, software: fallback || /swiftshader|llvmpipe|basic render/i.test(name) };
}

/** Posts bytes of the module's memory, which the other side shall own. */
function post(to, message) {
  const copies = Object.entries(message).flatMap(([name, bytes]) => (bytes ? [[name, bytes.slice()]] : []));
  to.postMessage(Object.fromEntries(copies), copies.map(([, bytes]) => bytes.buffer));
}

/** A thread with a module of the page's own; what it says waits to be heard. */
export class Thread {
  #worker = new Worker(new URL("thread.js", document.baseURI), { type: "module" });
  #look = () => this.#worker.postMessage({ hidden });
  #said = [];
  #wake = () => {};

  constructor(module) {
    this.#worker.onmessage = ({ data }) => this.#take(data);
    this.#worker.onerror = () => this.#take({});
    this.#worker.postMessage({ module });
    this.#look();
    document.addEventListener("visibilitychange", this.#look);
  }

  #take(said) {
    this.#said.push(said);
    this.#wake();
  }

  say(order, bytes) {
    post(this.#worker, { order, bytes });
  }

  /** What it says next; without a word if it failed. */
  async hear() {
    while (this.#said.length === 0) {
      await new Promise((came) => (this.#wake = came));
    }
    return this.#said.shift();
  }

  end() {
    document.removeEventListener("visibilitychange", this.#look);
    this.#worker.terminate();
  }
}

/** Says something to the page, from inside of a thread. */
export function say(word, bytes) {
  post(globalThis, { word, bytes });
}

/** Lets the user choose a file, or a folder with all its files: their names and content; none if it is called off. */
export function choose(folder) {
  const input = document.createElement("input");
  input.type = "file";
  input.webkitdirectory = folder;
  return new Promise((resolve) => {
    input.addEventListener("cancel", () => resolve([]));
    input.addEventListener("change", async () => {
      const reading = Array.from(input.files, (file) => picked(file, file.webkitRelativePath || file.name));
      resolve(await Promise.all(reading));
    });
    input.click();
  });
}

async function picked(file, name) {
  const content = await file?.arrayBuffer().catch(() => undefined);
  return { name, bytes: content && new Uint8Array(content) };
}

const dropped = [];
let somethingCame = () => {};

/**
 * The next folder that is dropped on the page, or file that is dropped beside one: its name, and all files of it. Only
 * who asks for folders changes what a drop on the page does.
 */
export async function droppedFolder() {
  // The same listener is added once.
  addEventListener("drop", takeFolders, { capture: true });
  while (dropped.length === 0) {
    await new Promise((came) => (somethingCame = came));
  }
  return dropped.shift();
}

/** Before the window sees it, which would take a folder for a file. */
function takeFolders(event) {
  const items = Array.from(event.dataTransfer?.items ?? [], (item) => item.webkitGetAsEntry?.());
  const entries = items.filter((entry) => entry);
  if (!entries.some((entry) => entry.isDirectory)) {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
  // To the window, what was held over it is gone.
  event.target.dispatchEvent(new DragEvent("dragleave"));
  for (const entry of entries) {
    filesOf(entry).then((files) => {
      dropped.push({ name: entry.name, files });
      somethingCame();
    });
  }
}

/** A file that was dropped, or all files of a folder. What the browser refuses to list is left out. */
async function filesOf(entry) {
  if (entry.isDirectory) {
    return filesBelow(entry);
  }
  const file = await new Promise((done) => entry.file(done, () => done(undefined)));
  return [await picked(file, entry.fullPath.slice(1))];
}

async function filesBelow(folder) {
  const reader = folder.createReader();
  const inside = [];
  // It tells some at a time.
  for (let part; part?.length !== 0; inside.push(...part)) {
    part = await new Promise((done) => reader.readEntries(done, () => done([])));
  }
  return (await Promise.all(inside.map(filesOf))).flat();
}

/** Gives the user a file. */
export function download(name, bytes) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  link.download = name;
  link.click();
  // Later: the browser may not have begun to read.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** A chart as a PNG file on white, `scale` times as large; undefined if it cannot be drawn. */
export async function png(svg, scale) {
  const chart = new Image();
  chart.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  try {
    await chart.decode();
    const canvas = new OffscreenCanvas(scale * chart.width, scale * chart.height);
    const pen = canvas.getContext("2d");
    pen.fillStyle = "white";
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(chart, 0, 0, canvas.width, canvas.height);
    const file = await canvas.convertToBlob();
    return { name: "chart.png", bytes: new Uint8Array(await file.arrayBuffer()) };
  } catch {
    return undefined;
  }
}
