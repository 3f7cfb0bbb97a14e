// For browsers that know no modules, and so no WebAssembly with SIMD.
document.getElementById("message").textContent =
  "This browser is too old for this page. A current Chrome, Edge, Firefox or Safari can show it.";
