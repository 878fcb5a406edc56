/** `node --expose-gc serve.mjs`: the server of the soak; sends its port, and what it holds when asked. */
import { readdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Log, Path, Returns, Socket, bodyStream, get, post } from "usher-http";
import { Files } from "usher-http/files";
import { serve } from "usher-http/node";
import { feed } from "../apps/feed.mjs";
import { routes } from "../apps/usher.mjs";

Log.setup({ out: () => {} });
const folder = mkdtempSync(join(tmpdir(), "usher-soak-"));
writeFileSync(join(folder, "page.txt"), "x".repeat(64 * 1024));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

const upload = post(
  Path.of("upload"),
  { inputs: { body: bodyStream({ max: 2 ** 24 }) }, returns: Returns.text },
  async ({ body }) => {
    const hash = createHash("sha1");
    for await (const part of body) hash.update(part);
    return hash.digest("hex");
  },
);
const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const echo = get(Path.of("echo"), { returns: Returns.websocket(texts) }, () => async (socket) => {
  for await (const text of socket) if (!(await socket.send(text)).ok) return;
});

const { route: events, publish } = feed();
const all = [...routes, events, upload, echo, ...Files.directory(folder, { at: "/files" })];
const { port } = await serve(all, { host: "127.0.0.1", port: 0, maxConnections: 2000 });
setInterval(() => publish("x".repeat(200)), 50).unref();

process.on("message", (message) => {
  if (message === "stop") process.exit();
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send?.({
    heldMb: (heapUsed + external) / 1e6,
    rssMb: rss / 1e6,
    handles: process.getActiveResourcesInfo().length,
    descriptors: readdirSync("/proc/self/fd").length,
  });
});
// Nothing of it is left where the soak fails.
process.once("disconnect", () => process.exit());
process.send?.({ port });
