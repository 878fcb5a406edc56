/** A server in which an app is mounted, and the routes of such an app. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import * as v from "valibot";
import { vi } from "vitest";
import {
  Codec,
  Cookie,
  Dep,
  Path,
  Returns,
  body,
  bodyStream,
  get,
  json,
  peer,
  post,
  request,
  setCookie,
} from "usher-http";
import type { Route } from "usher-http";
import { endsWithTest } from "../../support/ends.ts";
import { leaveAll } from "../../support/raw-client.ts";

const running: Server[] = [];
endsWithTest(async () => {
  leaveAll();
  await Promise.all(
    running.splice(0).map((server) => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    }),
  );
  vi.useRealTimers();
});

/** Listens until the test ends; returns the port, or 0 on a Unix socket. */
export async function listens(server: Server, where: number | string = 0): Promise<number> {
  running.push(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    if (typeof where === "string") server.listen(where, resolve);
    else server.listen(where, "127.0.0.1", resolve);
  });
  return typeof where === "string" ? 0 : (server.address() as AddressInfo).port;
}

const size = post(Path.of("size"), { inputs: { body }, returns: Returns.text }, ({ body }) => String(body.byteLength));
const waited = Dep.ofRequest(async () => "waited for");
export const routes: readonly Route[] = [
  get(Path.of("hello"), { inputs: { request, peer }, returns: Returns.text }, ({ request, peer }) => {
    return `${request.target} ${peer} ${request.host}`;
  }),
  get(Path.of("later"), { returns: Returns.text }, async () => "later"),
  size,
  post(
    Path.of("item"),
    { inputs: { item: json(v.object({ name: v.string() })) }, returns: Returns.json(v.object({ name: v.string() })) },
    ({ item }) => item,
  ),
  post(
    Path.of("parts"),
    { inputs: { upload: bodyStream({ max: 1 << 30 }) }, returns: Returns.text },
    async ({ upload }) => {
      let bytes = 0;
      for await (const part of upload) bytes += part.byteLength;
      return String(bytes);
    },
  ),
  post(Path.of("waits"), { inputs: { wait: waited, body }, returns: Returns.text }, () => "read"),
  post(Path.of("ignores"), { returns: Returns.text }, () => "ignored"),
  get(Path.of("cookies"), { inputs: { setCookie }, returns: Returns.text }, ({ setCookie }) => {
    for (const name of ["a", "b"]) setCookie(Cookie.make(Cookie.named(name, Codec.int), 1));
    return "set";
  }),
];
