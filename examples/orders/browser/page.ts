/** The element of the page that a selector names; throws where the page has none of that kind. */
export function find<E extends Element>(selector: string, kind: new () => E): E {
  const found = document.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`the page has no ${selector}`);
  return found;
}

/** Does something each time a form is sent, in place of leaving the page, and once at a time. */
export function onSubmit(form: HTMLFormElement, send: () => Promise<void>): void {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (form.ariaBusy === "true") return;
    form.ariaBusy = "true";
    void send().finally(() => (form.ariaBusy = null));
  });
}

/** Says what came of a form, where it says so. */
export function show(outcome: HTMLElement, kind: "placed" | "wrong" | "", message: string): void {
  outcome.className = `outcome ${kind}`;
  outcome.textContent = message;
}
