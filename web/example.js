import { load } from "./bayesadapter-api.js";
const file = await fetch("demo/pse/posterior.safetensors");
const network = await load(await file.arrayBuffer());
const seven = "00111100 00000100 00001000 00010000 00111000 00010000 00010000 00010000";
const data = Uint8Array.from(seven.replaceAll(" ", ""), (bit) => 255 * bit);
const { probabilities, mi } = await network.predict({ width: 8, height: 8, data }, 20);
const likeliest = probabilities.indexOf(Math.max(...probabilities));
document.body.textContent = `${network.classes[likeliest]}, mutual information ${mi.toFixed(3)} nats`;
