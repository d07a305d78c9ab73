import { createApi } from "./api.ts";
import { startApp } from "./app.ts";
import { need } from "./element.ts";
import { clearErrors, reportError } from "./errors.ts";
import { forgetToken, keepToken, readToken, takeTokenFromAddress } from "./token.ts";

/** Survives the reload that takes a refused token's data off the page. */
const REFUSAL = "memdir-refusal";
const REFUSED =
  "The service does not take this token: it is wrong or has expired. Use the one that npm start printed last, or make another with npm run -s token.";

/** The token form, or the app once there is a token. A refused token leads back to the form. */
function start(): void {
  const token = readToken();
  const gate = need("gate", HTMLElement);
  show(gate, token === "");
  for (const id of ["app", "panels", "sign-out"]) show(need(id, HTMLElement), token !== "");
  if (token === "") {
    need("token-input", HTMLInputElement).focus();
    return;
  }
  let refused = false;
  startApp(
    createApi(token, () => {
      if (refused) return;
      refused = true;
      forgetToken();
      sessionStorage.setItem(REFUSAL, "yes");
      location.reload();
    }),
  );
}

function show(node: HTMLElement, visible: boolean): void {
  node.hidden = !visible;
}

need("token-form", HTMLFormElement).addEventListener("submit", (event) => {
  event.preventDefault();
  const token = need("token-input", HTMLInputElement).value.trim();
  if (token === "") return;
  keepToken(token);
  clearErrors();
  start();
});
need("sign-out", HTMLButtonElement).addEventListener("click", () => {
  forgetToken();
  location.replace(location.pathname);
});
addEventListener("hashchange", () => {
  if (takeTokenFromAddress()) location.reload();
});

takeTokenFromAddress();
if (sessionStorage.getItem(REFUSAL)) reportError(REFUSED);
sessionStorage.removeItem(REFUSAL);
start();
