/** The element of a selector. Throws if the page has no such element. */
export function find<E extends Element>(selector: string, kind: new () => E): E {
  const found = document.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`the page has no ${selector}`);
  return found;
}

/** A new idempotency key. `crypto.randomUUID` is for secure contexts alone: this page may be served over plain HTTP. */
export function newKey(): string {
  return `"${Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")}"`;
}

/** Calls `send` when the form is submitted, without leaving the page, one call at a time. */
export function onSubmit(form: HTMLFormElement, send: () => Promise<void>): void {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (form.ariaBusy === "true") return;
    form.ariaBusy = "true";
    void send().finally(() => (form.ariaBusy = null));
  });
}

/** Shows the result of a form. */
export function show(outcome: HTMLElement, kind: "placed" | "wrong" | "", message: string): void {
  outcome.className = `outcome ${kind}`;
  outcome.textContent = message;
}
