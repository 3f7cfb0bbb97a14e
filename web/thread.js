// The thread of the page's runs: the same module again, which the page has compiled, and which is told what to do.
import init, { obey } from "./bayesadapter.js";

// Of a promise that nobody waits for, the page would not hear.
addEventListener("unhandledrejection", ({ reason }) => reportError(reason));

let ready;

onmessage = ({ data: { module, order, bytes } }) => {
  if (module) {
    ready = init({ module_or_path: module });
  } else if (order) {
    // Promises keep the order of what waits for the module.
    ready.then(() => obey(order, bytes));
  }
};
