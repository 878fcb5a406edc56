/**
 * A chat over WebSockets, with Redis between processes. Run `node examples/chat.ts` and open <http://localhost:8080> twice. For
 * several processes, give each a `PORT` and all of them the same `REDIS_URL`, such as `redis://localhost:6379`.
 */
import { Broadcast, Path, Returns, Socket, get, param } from "usher-http";
import { serve } from "usher-http/node";
import { relay } from "usher-http/redis";
import * as v from "valibot";

const { PORT = "8080", REDIS_URL } = process.env;

const Line = v.object({
  name: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(40)),
  text: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(1000)),
});
const chat = Socket.protocol({ client: Socket.json(Line), server: Socket.json(Line) });

// Without a relay the hub reaches the sockets of this process alone.
const others = REDIS_URL === undefined ? undefined : await relay(REDIS_URL, { channel: "chat" });
const hub = Broadcast.create<typeof chat.server>({ ...(others && { relay: others }) });

const room = Path.str("room");

const talk = get(
  Path.of("rooms", room),
  {
    summary: "Talk in a room",
    inputs: { room: param(room) },
    returns: Returns.websocket(chat, { maxMessage: 8192, compression: true }),
  },
  ({ room }) =>
    async (socket) => {
      const lines = hub.subscribe(room);
      let isReading = true;
      const sending = (async () => {
        for await (const line of lines) if (!(await socket.send(line)).ok) return;
        // The client was too slow for its room, or the server stops.
        if (isReading) await socket.close();
      })();
      try {
        // A message that is not a line ends the loop, and closes the socket with 1007.
        for await (const line of socket) hub.publish(room, Socket.encode(chat.server, line));
      } finally {
        isReading = false;
        lines.unsubscribe();
      }
      await sending;
    },
);

const page = get(Path.root, { returns: Returns.html }, () => html);

const html = `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Chat</title>
  <style>
    :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
    body { max-width: 40rem; margin: 2rem auto; padding: 0 1rem; }
    form { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: end; }
    label { display: grid; }
    label.text { flex: 1 1 12rem; }
    input, button { font: inherit; padding: 0.4rem 0.6rem; }
    ol { list-style: none; padding: 0; overflow-wrap: anywhere; }
  </style>
  <h1>Chat</h1>
  <form>
    <label>Name <input id="name" required maxlength="40" value="Ada"></label>
    <label class="text">Message <input id="text" required maxlength="1000" autocomplete="off"></label>
    <button>Send</button>
  </form>
  <p id="state" role="status">Connecting …</p>
  <ol id="lines" aria-live="polite"></ol>
  <script type="module">
    const [form, name, text, state, lines] = ["form", "#name", "#text", "#state", "#lines"].map((of) => document.querySelector(of));
    let socket;
    const connect = () => {
      socket = new WebSocket(location.origin.replace("http", "ws") + "/rooms/lobby");
      socket.onopen = () => (state.textContent = "Connected");
      socket.onclose = () => {
        state.textContent = "The connection was cut. Connecting again …";
        setTimeout(connect, 1000);
      };
      socket.onmessage = ({ data }) => {
        const line = JSON.parse(data);
        const item = document.createElement("li");
        item.textContent = line.name + ": " + line.text;
        lines.prepend(item);
      };
    };
    form.onsubmit = (event) => {
      event.preventDefault();
      if (socket.readyState !== WebSocket.OPEN) return;
      socket.send(JSON.stringify({ name: name.value, text: text.value }));
      text.value = "";
    };
    connect();
  </script>
</html>
`;

const server = await serve([talk, page], { port: Number(PORT) });
await server.stopped;
hub.close();
await others?.close();
