/** What JavaScript can get wrong in the adapters of runtimes, in the functions that begin to serve. */
import { App, Path, Returns, get } from "usher-http";
import * as bun from "usher-http/bun";
import * as deno from "usher-http/deno";
import * as node from "usher-http/node";
import { rateStore, relay } from "usher-http/redis";
import { whatwg } from "usher-http/whatwg";
import { worker } from "usher-http/workers";
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
  ];
}

const none = "redis://nobody:%@x";
const redis: readonly Row[] = [
  ["relay", (x, o) => relay(x, o), [none, { channel: "b" }], /URI malformed|Invalid URL/],
  ["relay", (x) => relay(none, { channel: x }), ["b"], /URI malformed|Invalid URL/],
  ["rateStore", (x, o) => rateStore(x, o), [none, {}], /URI malformed|Invalid URL/],
  ["rateStore", (x) => rateStore(none, { prefix: x }), ["b"], /URI malformed|Invalid URL/],
  ["rateStore", (x) => rateStore(none, { waitMs: x }), [7], /URI malformed|Invalid URL/],
];

export const serverTables: Tables = {
  "usher-http/node": [
    ...rowsOf(node.serve, /ENOTFOUND|EAI_AGAIN/),
    ["listener", (x, o) => node.listener(x, o), [app, {}]],
  ],
  "usher-http/bun": rowsOf(bun.serve, /^Bun is not defined$/),
  "usher-http/deno": rowsOf(deno.serve, /^Deno is not defined$/),
  "usher-http/workers": [["worker", (r, o) => worker(r, o), [[hello], {}]]],
  "usher-http/whatwg": [["whatwg", (x) => whatwg(x), [app]]],
  "usher-http/redis": redis,
};
