// Bayesian networks in any page: load a posterior file, predict, and see how sure the network is.
// Types and meanings are in bayesadapter-api.d.ts; example.html uses it.
import init, { LoadedPosterior } from "./bayesadapter.js";

export async function load(posteriorBytes) {
  await init();
  const loaded = new LoadedPosterior(new Uint8Array(posteriorBytes));
  const classes = loaded.classes;
  return {
    classes,
    async predict(image, draws = 20) {
      const { width, height } = image;
      const { channels, pixels } = withoutAlpha(image);
      const answer = await loaded.predict(channels, height, width, pixels, draws);
      const { probabilities, mi, entropy, draws: flat } = answer;
      answer.free();
      const rows = Array.from({ length: flat.length / probabilities.length }, (_, draw) =>
        flat.subarray(draw * probabilities.length, (draw + 1) * probabilities.length),
      );
      return { probabilities, mi, entropy, draws: rows };
    },
    free: () => loaded.free(),
  };
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
