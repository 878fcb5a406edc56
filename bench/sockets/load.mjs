/** `node load.mjs <port> <sockets> <bytes>`: clients that each wait for their echo; sends a message when all are open. */
import { connect } from "node:net";

const [, , port, sockets, bytes] = process.argv;
const handshake = [
  "GET /echo HTTP/1.1",
  "Host: a",
  "Upgrade: websocket",
  "Connection: Upgrade",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  "",
  "",
].join("\r\n");
// A frame of less than 126 bytes, masked with zeros; the server's has no mask.
const frame = Buffer.concat([Buffer.from([0x81, 0x80 | Number(bytes), 0, 0, 0, 0]), Buffer.alloc(Number(bytes), "x")]);
const echoed = 2 + Number(bytes);
const clients = [];
let left = 0;

for (let i = 0; i < Number(sockets); i++) clients.push(await open());
process.send?.("open");

process.once("disconnect", () => process.exit());
process.on("message", (asked) => {
  if (asked === "stop") process.exit();
  left = asked;
  for (const client of clients) client.write(frame);
});

function open() {
  return new Promise((resolve, reject) => {
    const client = connect({ port: Number(port), host: "127.0.0.1" }, () => client.write(handshake));
    client.once("error", reject);
    client.setNoDelay(true);
    client.once("data", () => {
      let came = 0;
      client.on("data", (part) => {
        came += part.length;
        if (came < echoed) return;
        came -= echoed;
        left--;
        if (left > 0) client.write(frame);
        else if (left === 1 - clients.length) process.send?.("echoed");
      });
      resolve(client);
    });
  });
}
