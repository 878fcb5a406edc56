/** `node subscribe.mjs <port> <count>`: sends a message when all subscribers are connected, and when all have an event. */
import { connect } from "node:net";

const [, , port, count] = process.argv;
const subscribers = Number(count);
const request = "GET /feed HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n";
let open = 0;
let reached = 0;

for (let i = 0; i < subscribers; i++) await subscribe();

function subscribe() {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(port), host: "127.0.0.1" }, () => socket.write(request));
    socket.once("error", reject);
    socket.once("data", () => {
      if (++open === subscribers) process.send?.("open");
      socket.on("data", (part) => {
        // An event arrives in one chunk and ends with its only blank line.
        if (part.includes("\n\n") && ++reached === subscribers) {
          reached = 0;
          process.send?.("reached");
        }
      });
      resolve();
    });
  });
}

process.once("disconnect", () => process.exit());
process.on("message", () => process.exit());
