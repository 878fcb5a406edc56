import type { Order } from "./api.ts";
import { find, onSubmit, show } from "./page.ts";

/** A server message of `deskProtocol`. */
type Said = Order | { readonly error: string; readonly message: string };

const form = find("#desk", HTMLFormElement);
const input = find("#desk-item", HTMLInputElement);
const outcome = find("#made", HTMLElement);
let socket: WebSocket | undefined;

/** Places an order of one piece for each typed item, over a WebSocket that opens with the first one. */
export function takeOrders(): void {
  form.closest("section")?.removeAttribute("hidden");
  onSubmit(form, placeOne);
}

async function placeOne(): Promise<void> {
  show(outcome, "", "");
  const open = await opened();
  if (open === undefined) return show(outcome, "wrong", "Nothing was placed: there is no connection. Try again.");
  open.send(input.value);
  const message = await next(open, "message");
  if (message === undefined) {
    const cut = "The connection was cut before there was an answer. See the newest orders: was it placed?";
    return show(outcome, "wrong", cut);
  }
  const answer = JSON.parse(message.data) as Said;
  if ("error" in answer) return show(outcome, "wrong", `Nothing was placed. ${answer.message}`);
  show(outcome, "placed", `Order ${answer.id}: ${answer.quantity} ${answer.item}`);
  form.reset();
  input.focus();
}

/** The socket, opened if necessary; undefined if it cannot be opened. */
async function opened(): Promise<WebSocket | undefined> {
  if (socket?.readyState === WebSocket.OPEN) return socket;
  socket = new WebSocket(`${location.origin.replace("http", "ws")}/orders/desk`);
  return (await next(socket, "open")) && socket;
}

/** The next event of a name; undefined if the socket closes first. */
function next<Name extends "open" | "message">(
  socket: WebSocket,
  name: Name,
): Promise<WebSocketEventMap[Name] | undefined> {
  return new Promise((resolve) => {
    const done = new AbortController();
    const finish = (event?: WebSocketEventMap[Name]): void => {
      done.abort();
      resolve(event);
    };
    socket.addEventListener(name, finish, { signal: done.signal });
    socket.addEventListener("close", () => finish(), { signal: done.signal });
  });
}
