/** The servers over HTTP/2 without TLS: `start` runs in a process of its own and resolves with the port. */
import { createServer } from "node:http2";
import { onStream } from "../apps/by-hand.mjs";

const host = "127.0.0.1";

/**
 * @typedef {object} Candidate
 * @property {string} name
 * @property {() => Promise<number>} start
 */

/** @type {Readonly<Record<string, Candidate>>} */
export const candidates = {
  raw: { name: "`node:http2` by hand", start: byHand },
  usher: { name: "usher, `http2: true`", start: usher },
};

async function byHand() {
  const server = createServer({ settings: { maxConcurrentStreams: 100, enablePush: false } });
  server.on("stream", onStream);
  await /** @type {Promise<void>} */ (new Promise((resolve) => server.listen(0, host, resolve)));
  return /** @type {import("node:net").AddressInfo} */ (server.address()).port;
}

async function usher() {
  const { logTo, routes } = await import("../apps/usher.mjs");
  const { serve } = await import("usher-http/node");
  logTo("off");
  return (await serve(routes, { host, port: 0, http2: true })).port;
}
