// What the window asks of the browser.

const channel = new MessageChannel();
const waiting = [];
channel.port1.onmessage = () => waiting.shift()();

/**
 * Lets the browser draw and answer its user. In a hidden tab it takes until the tab is seen again, so that nobody's
 * battery works for a page that nobody looks at. (Timers would wait for 4 ms or more at every step.)
 */
export async function breathe() {
  while (document.hidden) {
    await new Promise((seen) => document.addEventListener("visibilitychange", seen, { once: true }));
  }
  await new Promise((done) => {
    waiting.push(done);
    channel.port2.postMessage(null);
  });
}

/** A moment without work. */
export function rest() {
  return new Promise((done) => setTimeout(done, 20));
}

/** The adapter that the browser would give: its name, and whether it is a GPU in software; undefined without one. */
export async function adapter() {
  const found = await navigator.gpu?.requestAdapter().catch(() => null);
  if (!found) {
    return undefined;
  }
  const { description, vendor, architecture } = found.info;
  const name = description || `${vendor} ${architecture}`.trim() || "unnamed adapter";
  const fallback = found.info.isFallbackAdapter ?? found.isFallbackAdapter ?? false;
  return { name, software: fallback || /swiftshader|llvmpipe|basic render/i.test(name) };
}

/** Lets the user choose a file, or a folder with all its files: their names and content; none if it is called off. */
export function choose(folder) {
  const input = document.createElement("input");
  input.type = "file";
  input.webkitdirectory = folder;
  return new Promise((resolve) => {
    input.addEventListener("cancel", () => resolve([]));
    input.addEventListener("change", async () => {
      const reading = Array.from(input.files, async (file) => {
        const content = await file.arrayBuffer().catch(() => undefined);
        const name = file.webkitRelativePath || file.name;
        return { name, bytes: content && new Uint8Array(content) };
      });
      resolve(await Promise.all(reading));
    });
    input.click();
  });
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
