/** What JavaScript can get wrong in the adapters of runtimes, in the functions that begin to serve. */
import { App, HttpClient, Keys, Path, Rate, Returns, Sessions, get } from "usher-http";
import * as bun from "usher-http/bun";
import * as deno from "usher-http/deno";
import * as node from "usher-http/node";
import { Oidc } from "usher-http/oidc";
import { idempotencyStore, rateStore, relay } from "usher-http/redis";
import { whatwg } from "usher-http/whatwg";
import { worker } from "usher-http/workers";
import * as v from "valibot";
import type { Row, Tables } from "./rule.ts";

const hello = get(Path.of("a"), { returns: Returns.text }, () => "hi");
const app = App.make([hello]);
const quiet = { port: 0, signals: false };

/** What is served is stopped. A runtime that is not there says so once the arguments were looked at. */
function rowsOf(serve: (routes: never, options: never) => Promise<node.Server>, ends?: RegExp): readonly Row[] {
  const served = async (routes: unknown, options: unknown = quiet): Promise<void> => {
    const server = await serve(routes as never, options as never);
    await server.stop();
  };
  const row = (call: Row[1], ...right: readonly unknown[]): Row =>
    ends === undefined ? ["serve", call, right] : ["serve", call, right, ends];
  return [
    row((routes) => served(routes), [hello]),
    row((options) => served([hello], options), quiet),
    row((host) => served([hello], { ...quiet, host }), "127.0.0.1"),
    row((port) => served([hello], { ...quiet, port }), 0),
    row((signals) => served([hello], { ...quiet, signals }), false),
    row((reusePort) => served([hello], { ...quiet, reusePort }), false),
  ];
}

const none = "redis://nobody:%@x";
const redis: readonly Row[] = [
  ["relay", (x, o) => relay(x, o), [none, { channel: "b" }], /the URL of Redis cannot be read/],
  ["relay", (x) => relay(none, { channel: x }), ["b"], /the URL of Redis cannot be read/],
  ["rateStore", (x, o) => rateStore(x, o), [none, {}], /the URL of Redis cannot be read/],
  ["rateStore", (x) => rateStore(none, { prefix: x }), ["b"], /the URL of Redis cannot be read/],
  ["rateStore", (x) => rateStore(none, { waitMs: x }), [7], /the URL of Redis cannot be read/],
  ["idempotencyStore", (x, o) => idempotencyStore(x, o), [none, {}], /the URL of Redis cannot be read/],
  ["idempotencyStore", (x) => idempotencyStore(none, { prefix: x }), ["b"], /the URL of Redis cannot be read/],
  ["idempotencyStore", (x) => idempotencyStore(none, { waitMs: x }), [7], /the URL of Redis cannot be read/],
];

const issuer = Oidc.issuer("https://issuer.example", { clientId: "shop" });
const sessions = Sessions.make({
  store: Sessions.memory(),
  shape: v.object({ user: v.string(), tokens: v.optional(Oidc.tokens) }),
  idleMs: 1,
  absoluteMs: 1,
});
const signIn = {
  origin: "https://shop.example",
  keys: Keys.ring("a secret of the tests, which is 32 bytes and more"),
  sessions,
  onSignIn: () => ({ user: "ada" }),
};
const path = Path.of("a");
const { privateKey } = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign"]);
const issuerOf = (change: object): unknown => Oidc.issuer("https://issuer.example", { clientId: "shop", ...change });
const routesOf = (change: object): unknown => Oidc.routes(issuer, { ...signIn, ...change });
const oidc: readonly Row[] = [
  ["Oidc.issuer", (x, o) => Oidc.issuer(x, o), ["https://issuer.example", { clientId: "shop" }]],
  ["Oidc.issuer", (x) => issuerOf({ clientId: x }), ["shop"]],
  ["Oidc.issuer", (x) => issuerOf({ clientSecret: x }), ["a secret of 16 bytes"]],
  ["Oidc.issuer", (x) => issuerOf({ sendSecret: x }), ["post"]],
  ["Oidc.issuer", (x) => issuerOf({ scopes: x }), [["openid"]]],
  ["Oidc.issuer", (x, y) => issuerOf({ clockToleranceMs: x, freshMs: y }), [1, 1]],
  ["Oidc.issuer", (x) => issuerOf({ http: x }), [HttpClient.make()]],
  ["Oidc.issuer", (x) => issuerOf({ clientKey: { key: x } }), [privateKey]],
  ["Oidc.routes", (x, o) => Oidc.routes(x, o), [issuer, signIn]],
  ["Oidc.routes", (x) => Oidc.routes({ one: x }, signIn), [issuer]],
  ["Oidc.routes", (x) => routesOf({ origin: x }), ["https://shop.example"]],
  ["Oidc.routes", (x, y) => routesOf({ keys: x, sessions: y }), [signIn.keys, sessions]],
  ["Oidc.routes", (f) => routesOf({ onSignIn: f }), [signIn.onSignIn]],
  ["Oidc.routes", (x, y) => routesOf({ at: x, signOutAt: y }), [path, Path.of("b")]],
  ["Oidc.routes", (x, y) => routesOf({ home: x, signedOut: y }), ["/", "/"]],
  ["Oidc.routes", (x, y) => routesOf({ maxAgeMs: x, attemptMs: y }), [1, 1]],
  ["Oidc.routes", (x, y) => routesOf({ prompt: x, acr: y }), ["login", ["gold"]]],
  ["Oidc.routes", (x) => routesOf({ parameters: { ui_locales: x } }), ["fr"]],
  ["Oidc.routes", (x, y) => routesOf({ refuses: x, seen: y }), [[], Rate.memory()]],
  ["Oidc.accessToken", (x, y) => Oidc.accessToken(x, y), [[issuer], sessions]],
];

export const serverTables: Tables = {
  "usher-http/oidc": oidc,
  "usher-http/node": [
    ...rowsOf(node.serve, /ENOTFOUND|EAI_AGAIN|EACCES/),
    ["listener", (x, o) => node.listener(x, o), [app, {}]],
  ],
  "usher-http/bun": rowsOf(bun.serve, /^Bun is not defined$/),
  "usher-http/deno": rowsOf(deno.serve, /^Deno is not defined$/),
  "usher-http/workers": [["worker", (r, o) => worker(r, o), [[hello], {}]]],
  "usher-http/whatwg": [["whatwg", (x) => whatwg(x), [app]]],
  "usher-http/redis": redis,
};
