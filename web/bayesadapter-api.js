// Bayesian networks in any page: load a posterior file, predict, and see how sure the network is.
// Types and meanings are in bayesadapter-api.d.ts; example.html uses it.
import init, { LoadedPosterior } from "./bayesadapter.js";

/** More draws change no digit that anyone looks at, and would hold up the page for minutes. */
const MOST_DRAWS = 4096;

export async function load(posteriorBytes, { device = "cpu" } = {}) {
  if (device !== "cpu" && device !== "webgpu") {
    throw new RangeError(`device is ${device}; choose "cpu" or "webgpu"`);
  }
  await init();
  const loaded = await orTrap(LoadedPosterior.open(new Uint8Array(posteriorBytes), device === "webgpu"));
  const classes = loaded.classes;
  return {
    classes,
    async predict(image, draws = 20, { temperature = true } = {}) {
      if (!Number.isInteger(draws) || draws < 1 || draws > MOST_DRAWS) {
        throw new RangeError(`draws is ${draws}; give a whole number from 1 to ${MOST_DRAWS}`);
      }
      const { width, height } = image;
      const { channels, pixels } = withoutAlpha(checked(image));
      const answer = await orTrap(loaded.predict(channels, height, width, pixels, draws, temperature));
      const { probabilities, mi, entropy, draws: flat, prediction_set: set } = answer;
      answer.free();
      const rows = Array.from({ length: flat.length / probabilities.length }, (_, draw) =>
        flat.subarray(draw * probabilities.length, (draw + 1) * probabilities.length),
      );
      const predictionSet = set && Array.from(set, (at) => classes[at] ?? String(at));
      return { probabilities, mi, entropy, draws: rows, predictionSet };
    },
    free: () => loaded.free(),
  };
}

function checked(image) {
  const { width, height, data } = image ?? {};
  const sized = [width, height].every((side) => Number.isInteger(side) && side > 0);
  if (!sized || ![1, 3, 4].includes(data?.length / (width * height))) {
    throw new RangeError(
      `the picture is ${width} x ${height} with ${data?.length} bytes; give width * height pixels of 1, 3 or 4 bytes`,
    );
  }
  return image;
}

/** Networks know grey and red, green, blue; `ImageData` has transparency as well. */
function withoutAlpha({ width, height, data }) {
  const channels = data.length / (width * height);
  if (channels !== 4) {
    return { channels, pixels: new Uint8Array(data) };
  }
  const pixels = new Uint8Array(3 * width * height);
  for (let at = 0; at < width * height; at++) {
    pixels.set(data.subarray(4 * at, 4 * at + 3), 3 * at);
  }
  return { channels: 3, pixels };
}

/** What is promised; or why the module stopped, which would leave its promises open for ever. */
function orTrap(promised) {
  return new Promise((resolve, reject) => {
    const stopped = ({ error, reason }) => {
      if ((error ?? reason) instanceof WebAssembly.RuntimeError) {
        reject(new Error("the module has stopped, most likely out of memory; reload the page", { cause: error ?? reason }));
      }
    };
    const kinds = ["error", "unhandledrejection"];
    kinds.forEach((kind) => addEventListener(kind, stopped));
    promised.then(resolve, reject).finally(() => kinds.forEach((kind) => removeEventListener(kind, stopped)));
  });
}
