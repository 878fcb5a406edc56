/** `node follow.mjs <port> <count>`: opens event streams, one after the other, and sends a message when each has its event. */
import { connect } from "node:net";

const [, , port, count] = process.argv;
const request = "GET /feed HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\nAccept-Encoding: gzip\r\n\r\n";
for (let i = 0; i < Number(count); i++) {
  await new Promise((resolve, reject) => {
    const socket = connect({ port: Number(port), host: "127.0.0.1" }, () => socket.write(request));
    let text = "";
    socket.once("error", reject);
    // The head, and a chunk after it.
    socket.on("data", (part) => {
      text += part.toString("latin1");
      if (/\r\n\r\n[\da-f]+\r\n/i.test(text)) resolve();
    });
  });
}
process.send?.("open");
process.once("disconnect", () => process.exit());
process.on("message", () => process.exit());
