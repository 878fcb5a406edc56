/**
 * The page's live list and its import, by the typed client: what a bundler makes the page's script of. Of the server it has
 * the types alone.
 */
import * as Client from "usher-http/client";
import type { routes } from "../routes.ts";

type Api = Client.Calls<typeof routes>;
type Order = Extract<Awaited<ReturnType<Api["GET /orders/{order_id}"]>>, { readonly ok: true }>["value"];

const api: Api = Client.of<typeof routes>({ baseUrl: location.origin });

const live = one("#live", HTMLElement);
const state = one("#live .state", HTMLElement);
const list = one("#live tbody", HTMLTableSectionElement);
const form = one("#import", HTMLFormElement);
const outcome = one("#outcome", HTMLElement);
const problems = one("#problems", HTMLTableElement);

live.hidden = false;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  void sendFile();
});
await follow();

/** Shows what happens to the orders: the client connects again by itself, and what was missed is told then. */
async function follow(): Promise<void> {
  const feed = await api["GET /orders/feed"]();
  if (!feed.ok) {
    state.textContent = feed.message;
    return;
  }
  state.textContent = "Live";
  for await (const event of feed.value) {
    switch (event.name) {
      case "list":
        list.replaceChildren(...event.value.orders.map(rowOf));
        break;
      case "placed":
        rowWith(event.value.id)?.remove();
        list.prepend(rowOf(event.value));
        break;
      case "changed":
        rowWith(event.value.id)?.replaceWith(rowOf(event.value));
        break;
      case "removed":
        rowWith(event.value.id)?.remove();
    }
  }
}

/** Sends the form without leaving the page, and shows in it what was placed or what is wrong. */
async function sendFile(): Promise<void> {
  const orders = one("#orders", HTMLInputElement).files?.[0];
  if (orders === undefined) return;
  const placed = await api["POST /orders/import"]({ form: { orders } });
  if (placed.ok) return show(`${placed.value.placed} orders were placed.`);
  switch (placed.error) {
    case "invalid":
      return show(`Nothing was placed: ${placed.problems.length} things are wrong.`, placed.problems);
    case "unreachable":
      return show("The file could not be sent. Choose it again if it has changed; it can have 10 MiB at most.");
    default:
      return show(`Nothing was placed. ${placed.message}`);
  }
}

function show(text: string, wrong: readonly { readonly at: string; readonly message: string }[] = []): void {
  outcome.textContent = text;
  problems.hidden = wrong.length === 0;
  problems.tBodies[0]?.replaceChildren(
    ...wrong.map(({ at, message }) => {
      // Of form.orders[3].quantity the line and the column.
      const [, line = "", column = ""] = /\[(\d+)\](?:\.(\w+))?$/.exec(at) ?? [];
      return row([line, column, message]);
    }),
  );
}

function rowOf({ id, item, quantity, placed_at }: Order): HTMLTableRowElement {
  const made = row([`${id}`, item, `${quantity}`, new Date(placed_at).toLocaleTimeString("en-GB")]);
  made.dataset["id"] = `${id}`;
  return made;
}

function row(texts: readonly string[]): HTMLTableRowElement {
  const made = document.createElement("tr");
  for (const text of texts) made.insertCell().textContent = text;
  return made;
}

function rowWith(id: number): Element | null {
  return list.querySelector(`[data-id="${id}"]`);
}

function one<E extends Element>(selector: string, kind: new () => E): E {
  const found = document.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`the page has no ${selector}`);
  return found;
}
