type Attributes = Record<string, string | boolean | undefined>;

/**
 * Builds an element. `true` sets an empty attribute, `false` and `undefined` set none.
 * Children that are strings become text nodes: data never reaches an HTML parser.
 */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

/** A push button; its action's failure is the action's to report. */
export function button(label: string, action: () => void, attributes: Attributes = {}) {
  const node = element("button", { type: "button", ...attributes }, label);
  node.addEventListener("click", action);
  return node;
}

/** A button that asks once more, if `needed`: the first press changes its label, leaving it changes it back. */
export function confirmButton(
  label: string,
  sure: string,
  action: () => void,
  attributes: Attributes = {},
  needed: () => boolean = () => true,
) {
  let armed = false;
  const arm = (on: boolean) => {
    armed = on;
    node.textContent = on ? sure : label;
  };
  const node = button(
    label,
    () => {
      const act = armed || !needed();
      arm(!act);
      if (act) action();
    },
    attributes,
  );
  node.addEventListener("blur", () => arm(false));
  return node;
}

/** The element of the page with this id; its absence is a mistake in index.html, so it throws. */
export function need<T extends HTMLElement>(id: string, type: new () => T): T {
  const node = document.getElementById(id);
  if (node instanceof type) return node;
  throw new Error(`Cannot find element #${id} of type ${type.name}`);
}
