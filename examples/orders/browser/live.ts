import { apiOf } from "./api.ts";
import type { Order } from "./api.ts";
import { find } from "./page.ts";

const most = 100;
const againMs = 3000;

const section = find("#live", HTMLElement);
const state = find("#live .state", HTMLElement);
const list = find("#live tbody", HTMLTableSectionElement);
const isClerk = document.body.dataset["clerk"] !== undefined;

/** Shows the newest orders as they are placed, changed and removed. A clerk can remove them. */
export async function showOrders(): Promise<never> {
  section.hidden = false;
  // Not a `th`: it has no text.
  if (isClerk) find("#live thead tr", HTMLTableRowElement).append(document.createElement("td"));
  for (;;) {
    // A broken stream resumes by itself. It throws if the response is not a stream, so try again until the server is well.
    await follow().catch(() => {});
    away();
    await new Promise((resolve) => setTimeout(resolve, againMs));
  }
}

async function follow(): Promise<void> {
  const api = apiOf({ fetch: watched });
  const feed = await api["GET /orders/feed"]();
  if (!feed.ok) return;
  // Without an event id the server sends all orders again.
  list.replaceChildren();
  for await (const event of feed.value) {
    switch (event.name) {
      case "list":
        list.replaceChildren(...event.value.orders.map((order) => rowOf(order)));
        break;
      case "placed":
        rowWith(event.value)?.remove();
        list.prepend(rowOf(event.value, "new"));
        while (list.rows.length > most) list.deleteRow(-1);
        break;
      case "changed":
        rowWith(event.value)?.replaceWith(rowOf(event.value, "new"));
        break;
      case "removed":
        rowWith(event.value)?.remove();
    }
  }
}

/** Connects to the feed, and shows whether it is connected. */
async function watched(request: Request): Promise<Response> {
  const response = await fetch(request);
  if (!response.ok || response.body === null) return response;
  say("live", "Live");
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  // Broken or ended, the client reconnects by itself.
  void response.body.pipeTo(writable).then(away, away);
  return new Response(readable, response);
}

function away(): void {
  say("away", "The connection was cut. Connecting again …");
}

function say(kind: "live" | "away", text: string): void {
  state.className = `state ${kind}`;
  state.textContent = text;
}

function rowWith({ id }: Pick<Order, "id">): Element | null {
  return list.querySelector(`[data-id="${id}"]`);
}

function rowOf(order: Order, kind = ""): HTMLTableRowElement {
  const row = document.createElement("tr");
  row.dataset["id"] = `${order.id}`;
  row.className = kind;
  row.insertCell().textContent = `${order.id}`;
  row.insertCell().textContent = order.item;
  const quantity = row.insertCell();
  quantity.className = "number";
  quantity.textContent = order.quantity.toLocaleString("en");
  const placedAt = new Date(order.placed_at);
  const time = document.createElement("time");
  time.dateTime = order.placed_at;
  time.textContent = placedAt.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });
  row.insertCell().append(time);
  if (isClerk) row.insertCell().append(removerOf(order));
  return row;
}

/** A clerk's button. The feed reports the removal. */
function removerOf({ id }: Order): HTMLButtonElement {
  const button = document.createElement("button");
  button.className = "plain";
  button.textContent = "Remove";
  button.ariaLabel = `Remove order ${id}`;
  button.addEventListener("click", () => void remove());
  return button;

  async function remove(): Promise<void> {
    button.disabled = true;
    const removed = await apiOf()["DELETE /orders/{order_id}"]({ path: { order_id: id } });
    button.disabled = removed.ok;
    if (!removed.ok && removed.error === "signed_out") location.assign("/sign-in");
  }
}
