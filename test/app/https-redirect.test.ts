/** An HTTPS redirect, as an application writes it as middleware: it must happen where the client used plain HTTP, and only there. */
import { expect, it } from "vitest";
import { Answer, Path, Proxies, Returns, Test, get } from "usher-http";
import type { Middleware } from "usher-http";
import "../support/logs.ts";

const redirect: Middleware = (request, next) =>
  request.secure ? next() : Answer.redirect(`https://${request.host}${request.target}`, { status: 308 });
const app = Test.app([get(Path.of("a"), { returns: Returns.text }, () => "a")], {
  trustedProxies: Proxies.make(["10.0.0.1"]),
  middleware: [redirect],
});

it.each([
  ["a client of plain HTTP", "192.0.2.1", [], 308],
  ["a client that claims HTTPS", "192.0.2.1", [["x-forwarded-proto", "https"]], 308],
  ["a client of a proxy, by plain HTTP", "10.0.0.1", [["x-forwarded-proto", "http"]], 308],
  ["a client of a proxy, by HTTPS", "10.0.0.1", [["x-forwarded-proto", "https"]], 200],
] as const)("%s", async (_what, peer, fields, status) => {
  const headers = [["host", "shop.example"] as const, ...fields];
  const answer = await Test.call(app, "GET", "/a?b=1", { peer, headers });
  const location = status === 308 ? "https://shop.example/a?b=1" : null;
  expect([answer.status, answer.headers.get("location")]).toEqual([status, location]);
});
