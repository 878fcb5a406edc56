/** The servers with an event stream at `/feed`: `start` resolves with the port and a function that publishes a text. */
import { createServer } from "node:http";

/**
 * @typedef {object} Candidate
 * @property {string} name
 * @property {() => Promise<{ port: number, publish: (text: string) => void }>} start
 */

/** @type {Readonly<Record<string, Candidate>>} */
export const candidates = {
  raw: { name: "`node:http`, `response.write` in a loop", start: byHand },
  usher: { name: "usher, `Broadcast`", start: usher },
  hono: { name: "Hono, `streamSSE`", start: hono },
};

async function byHand() {
  const responses = new Set();
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    response.write(": open\n");
    responses.add(response);
    response.once("close", () => responses.delete(response));
  });
  await new Promise((resolve) => server.listen({ port: 0, host: "127.0.0.1", backlog: 511 }, resolve));
  const publish = (text) => {
    const event = Buffer.from(`event: tick\ndata: ${text}\n\n`);
    for (const response of responses) response.write(event);
  };
  return { port: server.address().port, publish };
}

async function usher() {
  const { Log } = await import("usher-http");
  const { serve } = await import("usher-http/node");
  const { feed } = await import("../apps/feed.mjs");
  Log.setup({ level: undefined });
  const { route, publish } = feed();
  const { port } = await serve([route], { host: "127.0.0.1", port: 0, maxConnections: 20_000 });
  return { port, publish };
}

async function hono() {
  const { Hono } = await import("hono");
  const { streamSSE } = await import("hono/streaming");
  const { serve } = await import("@hono/node-server");
  const streams = new Set();
  const app = new Hono();
  app.get("/feed", (c) =>
    streamSSE(c, async (stream) => {
      streams.add(stream);
      await stream.write(": open\n");
      await new Promise((resolve) => stream.onAbort(resolve));
      streams.delete(stream);
    }),
  );
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => {
      const publish = (text) => {
        for (const stream of streams) void stream.writeSSE({ event: "tick", data: text });
      };
      resolve({ port, publish });
    });
  });
}
