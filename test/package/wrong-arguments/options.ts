/** The options that each function needs: a row adds an unknown name to them, and the function refuses it. */
import { ApiKeys, Codec, Cors, Event, Rate, Refusal, Sessions, Socket, Trace, Webhook, jsonLines } from "usher-http";
import * as v from "valibot";
import { options } from "./rule.ts";
import type { Tables } from "./rule.ts";

const secrets = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"];

export const optionTables: Tables = {
  "needed options": [
    [
      "Sessions.make",
      (o) => Sessions.make(o),
      [options({ store: Sessions.memory(), shape: v.string(), idleMs: 1, absoluteMs: 1 })],
    ],
    ["Rate.make", (o) => Rate.make(o), [options({ limit: 1, perMs: 1000 })]],
    ["Cors.make", (o) => Cors.make(o), [options({ origins: ["https://a.example"] })]],
    ["ApiKeys.make", (o) => ApiKeys.make(o), [options({ prefix: "shop", store: ApiKeys.memory() })]],
    ["Webhook.sign", (o) => Webhook.sign("{}", o), [options({ scheme: "standard", secrets })]],
    ["Webhook.verify", (o) => Webhook.verify(v.object({}), o), [options({ scheme: "standard", secrets })]],
    ["Refusal.code", (o) => Refusal.code("gone", o), [options({ status: 410, doc: "Gone." })]],
    ["Trace.otlp", (o) => Trace.otlp(o), [options({ endpoint: "http://localhost:4318", service: "shop" })]],
    ["Socket.protocol", (o) => Socket.protocol(o), [options({ client: Socket.text, server: Socket.text })]],
    ["Codec.custom", (o) => Codec.custom(o), [options({ kind: "k", parse: () => undefined, print: String })]],
    ["Event.retry", (o) => Event.retry(o), [options({ ms: 1 })]],
    ["jsonLines", (o) => jsonLines(v.string(), o), [options({ max: 1 })]],
  ],
};
