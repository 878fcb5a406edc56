/** What code around a request put into an `AsyncLocalStorage` reaches the inputs and the handler, also after the body has arrived. */
import { AsyncLocalStorage } from "node:async_hooks";
import { createServer } from "node:http";
import express from "express";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import {
  App,
  Codec,
  Deadline,
  Dep,
  Form,
  Log,
  Overload,
  Path,
  Returns,
  body,
  bodyStream,
  get,
  json,
  post,
} from "usher-http";
import type { Middleware } from "usher-http";
import { listener } from "usher-http/node";
import { lines } from "../../support/logs.ts";
import { clientOf } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";
import { listens } from "./mounted-server.ts";

const tenant = new AsyncLocalStorage<string>();
const seen = (): string => tenant.getStore() ?? "none";
const within: Middleware = (_request, next) => tenant.run("shop", next);

const returns = Returns.text;
const order = json(v.object({ item: v.string() }));
const later = Dep.join({ order }, async () => {
  await Promise.resolve();
  return seen();
});
const routes = [
  get(Path.of("none"), { returns }, seen),
  post(Path.of("json"), { inputs: { order }, returns }, seen),
  post(Path.of("form"), { inputs: { item: Form.required("item", Codec.string) }, returns }, seen),
  post(Path.of("bytes"), { inputs: { body }, returns }, seen),
  post(Path.of("input"), { inputs: { read: Dep.map(order, seen) }, returns }, ({ read }) => `${read}, ${seen()}`),
  post(Path.of("later"), { inputs: { later }, returns }, ({ later }) => `${later}, ${seen()}`),
  post(Path.of("held"), { inputs: { order, held: Dep.scoped({}, seen, () => {}) }, returns }, ({ held }) => held),
  post(Path.of("parts"), { inputs: { parts: bodyStream({ max: 100 }) }, returns }, async ({ parts }) => {
    for await (const part of parts) if (part.length === 0) return "empty";
    return seen();
  }),
];

const deadline = Deadline.make(60_000);
const overload = Overload.make({ maxInFlight: 10 });
const ways: readonly (readonly [way: string, client: () => Promise<RawClient>])[] = [
  ["middleware", () => clientOf(routes, { middleware: [within] })],
  ["middleware, with a deadline", () => clientOf(routes, { middleware: [within], deadline })],
  ["middleware, with an overload", () => clientOf(routes, { middleware: [within], overload })],
  ["middleware, without lines", () => (Log.setup({ level: undefined }), clientOf(routes, { middleware: [within] }))],
  [
    "Express, in which the app is mounted",
    async () => {
      const app = express();
      app.use((_request, _response, next) => tenant.run("shop", next));
      return RawClient.to(await listens(createServer(app.use(listener(App.make(routes))))));
    },
  ],
];

const jsonType = "content-type: application/json";
const formType = "content-type: application/x-www-form-urlencoded";
const sent: readonly (readonly [target: string, type: string, body: string, seen: string])[] = [
  ["/json", jsonType, '{"item":"pen"}', "shop"],
  ["/form", formType, "item=pen", "shop"],
  ["/bytes", jsonType, "pen", "shop"],
  ["/input", jsonType, '{"item":"pen"}', "shop, shop"],
  ["/later", jsonType, '{"item":"pen"}', "shop, shop"],
  ["/held", jsonType, '{"item":"pen"}', "shop"],
  ["/parts", jsonType, "pen", "shop"],
];

describe.each(ways)("by %s", (_way, connect) => {
  it("reaches a handler without a body", async () => {
    expect((await (await connect()).ask("GET /none").answer()).body).toBe("shop");
  });

  it.each(sent)("reaches POST %s", async (target, type, text, expected) => {
    const client = await connect();
    expect((await client.ask(`POST ${target}`, [type], text).answer()).body).toBe(expected);
    // The next one is of the same connection, and its body arrives after its head.
    client.send(
      `POST ${target} HTTP/1.1`,
      "host: h",
      type,
      "transfer-encoding: chunked",
      "",
      "1",
      text.slice(0, 1),
      "",
    );
    await new Promise(setImmediate);
    client.send((text.length - 1).toString(16), text.slice(1), "0", "", "");
    expect((await client.answer()).body).toBe(expected);
  });
});

it("puts the tags that middleware sets on the lines of a handler that gets a body", async () => {
  const tagging: Middleware = (_request, next) => Log.tags({ "shop.tenant": "a" }, next);
  const log = Log.source("shop");
  const place = post(Path.of("orders"), { inputs: { order }, returns }, () => {
    log.info("placed");
    return "";
  });
  const client = await clientOf([place], { middleware: [tagging] });
  await client.ask("POST /orders", [jsonType], '{"item":"pen"}').answer();
  expect(lines().find(({ message }) => message === "placed")).toMatchObject({ "shop.tenant": "a" });
});
