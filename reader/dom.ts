/** Makes elements. Every text of the document becomes a text node: nothing here reads HTML. */

export type Child = Node | string | undefined | false;

/** Attributes have names of our own, never of the document. */
export interface Attributes {
  readonly class?: string;
  readonly id?: string;
  readonly title?: string;
  readonly type?: string;
  readonly name?: string;
  readonly value?: string;
  readonly for?: string;
  readonly role?: string;
  readonly placeholder?: string;
  readonly autocomplete?: string;
  readonly inputmode?: string;
  readonly spellcheck?: string;
  readonly rows?: string;
  readonly tabindex?: string;
  readonly [aria: `aria-${string}`]: string | undefined;
  readonly [data: `data-${string}`]: string | undefined;
}

export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
}

export function button(text: string, onClick: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = h("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", onClick);
  return made;
}

/** A link that a browser may follow, or else its text: no `javascript:` and no `data:`. */
export function link(url: string, text: string): HTMLElement {
  const target = safe(url);
  if (target === undefined) return h("span", {}, text);
  const made = h("a", {}, text);
  made.href = target;
  made.rel = "noreferrer noopener";
  return made;
}

function safe(url: string): string | undefined {
  try {
    const { protocol, href } = new URL(url, document.baseURI);
    return ["http:", "https:", "mailto:"].includes(protocol) ? href : undefined;
  } catch {
    return undefined;
  }
}

/** A button that copies, and says that it did. */
export function copyButton(label: string, text: () => string): HTMLButtonElement {
  const made = button(label, () => void copy());
  const say = (outcome: string) => {
    made.textContent = outcome;
    setTimeout(() => (made.textContent = label), 1500);
  };
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      say("Copied");
    } catch {
      say("Not copied");
    }
  };
  return made;
}

/** A part that is made when it is first opened: schemas may have no end. */
export function disclosure(summary: readonly Child[], content: () => readonly Child[], isOpen = false): HTMLElement {
  const details = h("details", {}, h("summary", {}, ...summary));
  let isMade = false;
  const make = () => {
    if (isMade) return;
    isMade = true;
    details.append(...content().filter((child) => child !== undefined && child !== false));
  };
  details.addEventListener("toggle", () => details.open && make());
  if (isOpen) {
    make();
    details.open = true;
  }
  return details;
}

let lastId = 0;
export function newId(): string {
  return `u${++lastId}`;
}
