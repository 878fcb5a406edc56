/** Places an order of one for each item that is typed, over a socket that is opened when the first one is. */
export const deskScript = `const form = document.querySelector("#desk");
const item = form.querySelector("input");
const outcome = document.querySelector("#made");
let socket;

form.closest("section").hidden = false;
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (form.ariaBusy === "true") return;
  form.ariaBusy = "true";
  show("", "");
  if (!(await isOpen())) {
    show("wrong", "Nothing was placed: there is no connection. Try again.");
  } else {
    const answer = await answerTo(item.value);
    if (answer === undefined) {
      show("wrong", "The connection was cut before there was an answer. See above whether the order was placed.");
    } else if (answer.error !== undefined) {
      show("wrong", "Nothing was placed. " + answer.message);
    } else {
      show("placed", "Order " + answer.id + ": " + answer.quantity + " " + answer.item);
      form.reset();
      item.focus();
    }
  }
  form.ariaBusy = null;
});

async function isOpen() {
  if (socket?.readyState === WebSocket.OPEN) return true;
  socket = new WebSocket(location.origin.replace("http", "ws") + "/orders/desk");
  return (await next("open")) !== undefined;
}

async function answerTo(item) {
  socket.send(item);
  const message = await next("message");
  return message && JSON.parse(message.data);
}

/** The next event of a name; undefined where the socket closes before. */
function next(name) {
  return new Promise((resolve) => {
    const done = new AbortController();
    const finish = (event) => {
      done.abort();
      resolve(event);
    };
    socket.addEventListener(name, finish, { signal: done.signal });
    socket.addEventListener("close", () => finish(undefined), { signal: done.signal });
  });
}

function show(kind, message) {
  outcome.className = "outcome " + kind;
  outcome.textContent = message;
}
`;
