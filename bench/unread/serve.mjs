/**
 * `serve.mjs <listener> <options>`, run by the runtime of that listener: the server whose clients do not read. Prints its port, and what it
 * holds for each line that it gets.
 */
import { createInterface } from "node:readline";
import { closeSync, mkdtempSync, openSync, rmSync, ftruncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Answer, Event, Log, Path, Returns, Socket, get } from "usher-http";
import { Files } from "usher-http/files";

const [, , listener = "node", given = "{}"] = process.argv;
const { serve } = await import(`usher-http/${listener}`);
const lines = [];
Log.setup({ out: (line) => void (line.includes("clients disconnected") && lines.push(JSON.parse(line).message)) });

const folder = mkdtempSync(join(tmpdir(), "usher-unread-"));
const fd = openSync(join(folder, "large.bin"), "w");
ftruncateSync(fd, 64 * 1024 * 1024);
closeSync(fd);

// Bytes of its own for each: one buffer that all share would take the memory of one.
const bytesOf = (length) => Buffer.alloc(length, 0x78);
const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const Said = Event.text("said");
const message = "x".repeat(16_384);
const routes = [
  get(Path.of("small"), { returns: Returns.text }, () => "small"),
  get(Path.of("page"), { returns: Returns.response }, () => Answer.make(bytesOf(16 * 1024))),
  get(Path.of("long"), { returns: Returns.response }, () => Answer.make(bytesOf(256 * 1024))),
  get(Path.of("large"), { returns: Returns.response }, () => Answer.make(bytesOf(4 * 1024 * 1024))),
  get(Path.of("events"), { returns: Returns.events([Said]) }, () => async (send) => {
    while ((await send(Event.make(Said, message))).ok);
  }),
  get(Path.of("socket"), { returns: Returns.websocket(texts) }, () => async (socket) => {
    while ((await socket.send(message)).ok);
  }),
  ...Files.directory(folder, { at: "/files" }),
];
// The default.
const budget = JSON.parse(given).sendBudget ?? 256 * 1024 * 1024;
const server = await serve(routes, {
  host: "127.0.0.1",
  port: 0,
  drainMs: 0,
  maxConnections: 20_000,
  sendBudget: budget,
  ...JSON.parse(given),
});
let peak = 0;
const timer = setInterval(() => (peak = Math.max(peak, server.unsent.bytes)), 50);
console.log(JSON.stringify({ port: server.port }));
createInterface({ input: process.stdin }).on("line", async (line) => {
  if (line === "stop") {
    await server.stop();
    clearInterval(timer);
    rmSync(folder, { recursive: true, force: true });
  }
  const closed = lines.reduce((sum, text) => sum + Number(/: (\d+)$/.exec(text)?.[1]), 0);
  console.log(JSON.stringify({ waiting: server.unsent.bytes, peak, closed, budget }));
  if (line === "stop") process.exit();
});
