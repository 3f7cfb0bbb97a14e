// The window's widgets, by name and place: a visitor's mouse and eyes.
import { join } from "node:path";
import { rest, until } from "./tab.mjs";

export class Window {
  constructor(page, name) {
    this.page = page;
    this.name = name;
  }

  async status() {
    return this.page.evaluate(() => JSON.parse(globalThis.bayesadapter?.status() ?? "null"));
  }

  /** Waits until something is so. */
  async until(what, holds, options) {
    return until(what, async () => {
      const status = await this.status();
      return status && holds(status) ? status : undefined;
    }, options);
  }

  async places() {
    return this.page.evaluate(() => JSON.parse(globalThis.bayesadapter?.outline() ?? "[]"));
  }

  /** The place of a widget; of several that are called so, of the highest, or of another that `at` counts. */
  async place(label, at = 0) {
    return until(`widget "${label}"`, async () => {
      const found = (await this.places()).filter((place) => place.label === label);
      return found.map(({ rect }) => rect).sort((one, other) => one[1] - other[1]).at(at);
    }, { timeout: 20_000 });
  }

  /** The labels that read so. */
  async labels(pattern) {
    return (await this.places()).map(({ label }) => label).filter((label) => pattern.test(label));
  }

  async click(label, at) {
    const [left, top, right, bottom] = await this.place(label, at);
    await this.page.mouse.click((left + right) / 2, (top + bottom) / 2);
  }

  /** Starts the run that is set up. The estimate moves the button when it comes, so that a click may miss it. */
  async startRun() {
    const { finished } = (await this.status()).happened;
    await until("run", async () => {
      // The welcome page is called so too, at the top.
      await this.click("Start", -1);
      await rest(1_000);
      const now = await this.status();
      return now.running || now.happened.finished > finished;
    });
  }

  async tap(label, at) {
    const [left, top, right, bottom] = await this.place(label, at);
    await this.page.touchscreen.tap((left + right) / 2, (top + bottom) / 2);
  }

  async draw(stroke) {
    const [left, top, right, bottom] = await this.place("Canvas");
    const at = ([x, y]) => [left + x * (right - left), top + y * (bottom - top)];
    const before = (await this.status()).happened.answers;
    await this.page.mouse.move(...at(stroke[0]));
    await this.page.mouse.down();
    for (const point of stroke.slice(1)) {
      await this.page.mouse.move(...at(point), { steps: 2 });
    }
    await this.page.mouse.up();
    return this.answerAfter(before);
  }

  /** The same with a finger; what is drawn follows it from frame to frame. */
  async drawWithFinger(stroke) {
    const [left, top, right, bottom] = await this.place("Canvas");
    const browser = await this.page.context().newCDPSession(this.page);
    const before = (await this.status()).happened.answers;
    for (const [at, [x, y]] of stroke.entries()) {
      const touchPoints = [{ x: left + x * (right - left), y: top + y * (bottom - top) }];
      await browser.send("Input.dispatchTouchEvent", { type: at === 0 ? "touchStart" : "touchMove", touchPoints });
      await this.page.evaluate(() => new Promise(requestAnimationFrame));
    }
    await browser.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
    return this.answerAfter(before);
  }

  /** What the network says, once it has said more than before. */
  async answerAfter(before) {
    const status = await this.until("answer", (now) => now.happened.answers > before && !now.busy);
    const [digit, probability, mi] = status.happened.answer;
    return { digit, probability, mi };
  }

  /** Drops a file, as a visitor's mouse would. */
  async drop(name, bytes) {
    await this.page.evaluate(
      ({ name, bytes }) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([Uint8Array.from(bytes)], name));
        const canvas = document.querySelector("#window");
        for (const kind of ["dragover", "drop"]) {
          canvas.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer }));
        }
      },
      { name, bytes: [...bytes] },
    );
  }

  /** Drops folders of the disk, and files beside them, which only the browser itself can do. */
  async dropFolder(...files) {
    const browser = await this.page.context().newCDPSession(this.page);
    const data = { items: [], files, dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"]) {
      await browser.send("Input.dispatchDragEvent", { type, x: 640, y: 400, data });
    }
  }

  /** Clicks what gives out a file, and keeps that. */
  async download(click, name) {
    const waiting = this.page.waitForEvent("download");
    await click();
    const file = join(import.meta.dirname, `${this.name}-${name}.safetensors`);
    await (await waiting).saveAs(file);
    return file;
  }

  /** Milliseconds between two pictures of the window: the mean, and the longest. */
  async frameTimes(frames = 60) {
    return this.page.evaluate(
      (frames) =>
        new Promise((done) => {
          const times = [];
          const tick = (now) => {
            times.push(now);
            if (times.length <= frames) {
              requestAnimationFrame(tick);
              return;
            }
            const gaps = times.slice(1).map((time, at) => time - times[at]);
            done({ mean: (times.at(-1) - times[0]) / frames, longest: Math.max(...gaps) });
          };
          requestAnimationFrame(tick);
        }),
      frames,
    );
  }

  /** Watches the window; returns what ends it, and tells the longest time between two pictures, in milliseconds. */
  async watchFrames() {
    await this.page.evaluate(() => {
      const watch = { longest: 0, over: false };
      globalThis.watch = watch;
      let before = performance.now();
      const tick = (now) => {
        watch.longest = Math.max(watch.longest, now - before);
        before = now;
        if (!watch.over) {
          requestAnimationFrame(tick);
        }
      };
      requestAnimationFrame(tick);
    });
    return () =>
      this.page.evaluate(() => {
        globalThis.watch.over = true;
        return globalThis.watch.longest;
      });
  }

  /** Clicks what opens the browser's dialog for files, and chooses there. */
  async choose(label, path) {
    const opened = this.page.waitForEvent("filechooser");
    await this.click(label);
    await (await opened).setFiles(path);
  }

  /** Makes the page believe that its tab is hidden, or is seen again. */
  async hide(hidden) {
    await this.page.evaluate((hidden) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  }

  async picture(name) {
    await this.page.screenshot({ path: join(import.meta.dirname, `${this.name}-${name}.png`) });
  }
}
