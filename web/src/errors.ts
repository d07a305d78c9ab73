import { button, element, need } from "./element.ts";

/** Shows a failure until it is dismissed; the same text is not shown twice. */
export function reportError(message: string): void {
  const place = need("errors", HTMLElement);
  const same = [...place.children].some((node) => node.firstChild?.textContent === message);
  if (same) return;
  const node = element(
    "p",
    { class: "banner bad", "data-testid": "error" },
    element("span", {}, message),
    button("Dismiss", () => node.remove(), { class: "quiet" }),
  );
  place.append(node);
}

export function clearErrors(): void {
  need("errors", HTMLElement).replaceChildren();
}
