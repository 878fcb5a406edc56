/**
 * Shows the newest orders as they are placed, changed and removed. The browser connects again by itself, and says which
 * event it had last; what it missed is told then.
 */
export const liveScript = `const section = document.querySelector("#live");
const state = section.querySelector(".state");
const [body] = section.querySelector("table").tBodies;
const most = 100;

section.hidden = false;
if (document.body.dataset.clerk !== undefined) section.querySelector("thead tr").append(document.createElement("th"));
follow();

function follow() {
  const feed = new EventSource("/orders/feed");
  // It has had no event: all of them come.
  feed.addEventListener("open", () => body.replaceChildren(), { once: true });
  feed.addEventListener("open", () => say("live", "Live"));
  feed.addEventListener("error", () => {
    say("away", "The connection was cut. Connecting again …");
    // Where the answer is no event stream the browser gives up.
    if (feed.readyState === EventSource.CLOSED) setTimeout(follow, 3000);
  });
  on("list", ({ orders }) => body.replaceChildren(...orders.map(rowOf)));
  on("placed", (order) => {
    rowWith(order)?.remove();
    body.prepend(rowOf(order, "new"));
    while (body.rows.length > most) body.deleteRow(-1);
  });
  on("changed", (order) => rowWith(order)?.replaceWith(rowOf(order, "new")));
  on("removed", (order) => rowWith(order)?.remove());

  function on(name, show) {
    feed.addEventListener(name, ({ data }) => show(JSON.parse(data)));
  }
}

function say(kind, text) {
  state.className = "state " + kind;
  state.textContent = text;
}

function rowWith({ id }) {
  return body.querySelector('[data-id="' + id + '"]');
}

function rowOf(order, kind) {
  const row = document.createElement("tr");
  row.dataset.id = order.id;
  if (kind === "new") row.className = kind;
  row.insertCell().textContent = order.id;
  row.insertCell().textContent = order.item;
  const quantity = row.insertCell();
  quantity.className = "number";
  quantity.textContent = order.quantity.toLocaleString("en");
  const time = document.createElement("time");
  time.dateTime = order.placed_at;
  time.textContent = new Date(order.placed_at).toLocaleTimeString("en-GB");
  time.title = new Date(order.placed_at).toLocaleString("en-GB");
  row.insertCell().append(time);
  if (document.body.dataset.clerk !== undefined) row.insertCell().append(removerOf(order));
  return row;
}

/** A clerk's button. That the order is gone, the feed says. */
function removerOf({ id }) {
  const button = document.createElement("button");
  button.className = "plain";
  button.textContent = "Remove";
  button.ariaLabel = "Remove order " + id;
  button.addEventListener("click", async () => {
    button.disabled = true;
    const answer = await fetch("/orders/" + id, { method: "DELETE" }).catch(() => undefined);
    button.disabled = answer?.ok === true;
    if (answer?.status === 401) location.assign("/sign-in");
  });
  return button;
}
`;
