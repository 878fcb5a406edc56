// Socket.IO and an app on one port of `node:http`, and a client of each; prints what the clients heard as JSON.
import { createServer } from "node:http";
import { once } from "node:events";
import { Server } from "socket.io";
import { io } from "socket.io-client";
import { App, Path, Returns, Socket, get } from "usher-http";
import { listener, serve } from "usher-http/node";
import { WebSocket } from "ws";

const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const chat = get(Path.of("chat"), { returns: Returns.websocket(texts) }, () => async (socket) => {
  for await (const text of socket) await socket.send(`usher ${text}`);
});
const hello = get(Path.of("hello"), { returns: Returns.text }, () => "Hello.");
const sockets = new Server({ destroyUpgrade: false });
sockets.on("connection", (socket) => socket.on("say", (text) => socket.emit("said", `socket.io ${text}`)));

/** Listens by a server of its own, or by `serve`. Returns the port. */
async function listens() {
  const attach = (server) => void sockets.attach(server);
  if (process.argv[2] === "serve") {
    return (await serve([chat, hello], { host: "127.0.0.1", port: 0, signals: false, attach })).port;
  }
  const answer = listener(App.make([chat, hello]));
  const server = createServer(answer).on("upgrade", answer.upgrade);
  attach(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server.address().port;
}

const port = await listens();

async function heardBySocketIo(transports) {
  const client = io(`http://127.0.0.1:${port}`, { transports });
  const heard = new Promise((resolve, reject) => {
    client.on("said", resolve);
    client.on("connect_error", reject);
  });
  client.emit("say", transports.join(" "));
  const text = await heard;
  const used = client.io.engine.transport.name;
  client.close();
  return [text, used];
}

async function heardByUsher() {
  const client = new WebSocket(`ws://127.0.0.1:${port}/chat`);
  await once(client, "open");
  client.send("hello");
  const [data] = await once(client, "message");
  client.close();
  return String(data);
}

const heard = {
  polling: await heardBySocketIo(["polling"]),
  websocket: await heardBySocketIo(["websocket"]),
  usher: await heardByUsher(),
  request: await (await fetch(`http://127.0.0.1:${port}/hello`)).text(),
};
console.log(JSON.stringify(heard));
await sockets.close();
