/** `node failing-soak.mjs`: the server of the soak, which leaves files open and ends a connection now and then. */
import diagnostics from "node:diagnostics_channel";
import { openSync } from "node:fs";

let requests = 0;
diagnostics.subscribe("http.server.request.start", (message) => {
  if (++requests % 10 === 0) message.socket.destroy();
});
process.on("message", () => {
  for (let i = 0; i < 100; i++) openSync("/dev/null");
});
await import("../../bench/soak/serve.mjs");
