// In the syntax of old browsers: those that cannot read page.js would show "Loading…" for ever. Whoever has
// `replaceAll` has modules and all syntax that is used there.
if (!("noModule" in document.createElement("script")) || !("replaceAll" in String.prototype)) {
  document.getElementById("message").textContent =
    "This browser is too old for this page. A current Chrome, Edge, Firefox or Safari can show it.";
}
