/** A Worker that opens WebSockets of the typed client, to the server that the request names. */
import * as Client from "usher-http/client";
import { Codec, Path, Query, Returns, get } from "usher-http";
import { worker } from "../../adapters/workers/index.ts";
import { spoken } from "./socket-acts.ts";
import { socketRoutes } from "./socket-routes.ts";
import type { SocketRoutes } from "./socket-routes.ts";

const to = Query.required("to", Codec.string);
const speak = get(Path.of("speak"), { inputs: { to }, returns: Returns.text }, async ({ to }) =>
  JSON.stringify(await spoken(to)),
);
/** How each end is seen that the other side may give a socket. */
const ends = get(Path.of("ends"), { inputs: { to }, returns: Returns.text }, async ({ to }) => {
  const api = Client.of<SocketRoutes>({ baseUrl: to, maxSocketBuffer: 100_000, openTimeoutMs: 5000 });
  const opened = await api["GET /bytes"].open();
  if (!opened.ok) return JSON.stringify(["not opened", opened.error]);
  const seen: unknown[] = [];
  // The server may wait for it.
  opened.value.send(new Uint8Array(1));
  try {
    for await (const one of opened.value) seen.push([...one]);
    seen.push("ended");
  } catch (thrown) {
    seen.push((thrown as Error).message);
  }
  return JSON.stringify([...seen, await opened.value.closed]);
});
/** What a server that reads nothing is sent. */
const sends = get(Path.of("sends"), { inputs: { to }, returns: Returns.text }, async ({ to }) => {
  const api = Client.of<SocketRoutes>({ baseUrl: to, maxSocketBuffer: 100_000 });
  const opened = await api["GET /words"].open({ text: "both", subprotocol: "v2" });
  if (!opened.ok) return "not opened";
  let sent = 0;
  try {
    for (; sent < 100; sent++) opened.value.send("x".repeat(50_000));
  } catch (thrown) {
    return `${sent} ${(thrown as Error).message}`;
  } finally {
    await opened.value.close();
  }
  return `all ${sent}`;
});
const aborted = get(Path.of("aborted"), { inputs: { to }, returns: Returns.text }, async ({ to }) => {
  const api = Client.of<SocketRoutes>({ baseUrl: to });
  const controller = new AbortController();
  const opened = await api["GET /bytes"].open({ signal: controller.signal });
  if (!opened.ok) return "not opened";
  controller.abort();
  const seen: unknown[] = [];
  for await (const one of opened.value) seen.push(one);
  return JSON.stringify([seen, await opened.value.closed, opened.value.send(new Uint8Array(1))]);
});

// oxlint-disable-next-line import/no-default-export -- what Workers serve
export default worker([...socketRoutes, speak, ends, sends, aborted]);
