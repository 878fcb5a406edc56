/** What JavaScript can get wrong in the functions that make answers, events, sockets, policies and groups of routes. */
import {
  App,
  Broadcast,
  Codec,
  Cookie,
  Cors,
  Deadline,
  Event,
  Health,
  Keys,
  Meta,
  Openapi,
  Overload,
  Path,
  Proxies,
  Rate,
  Returns,
  Sessions,
  Shape,
  Socket,
  client,
  get,
} from "usher-http";
import * as v from "valibot";
import { appOf, names } from "./rule.ts";
import type { Row, Tables } from "./rule.ts";

const done = () => "done";
const hello = get(Path.of("a"), { returns: Returns.text }, done);
const answers = (returns: unknown) => appOf(get(Path.of("a"), { returns: returns as never }, done as never));
const text = v.string();
const note = Event.text("note");
const chat = Socket.protocol({ client: Socket.text, server: Socket.text });

const returned: readonly Row[] = [
  ["Returns.json", (x, o) => answers(Returns.json(x, o)), [text, {}]],
  ["Returns.jsonResponse", (x, s, o) => answers(Returns.jsonResponse(x, s, o)), [text, { 200: "Found." }, {}]],
  ["Returns.json", (x) => answers(Returns.json(text, { examples: x })), [["x"]]],
  ["Returns.empty", (o) => answers(Returns.empty(o)), [{}]],
  ["Returns.emptyResponse", (s) => answers(Returns.emptyResponse(s)), [{ 204: "Done." }]],
  ["Returns.responses", (s) => answers(Returns.responses(s)), [{ 200: "Found." }]],
  ["Returns.responses", (s) => answers(Returns.responses({ 200: s })), ["Found."]],
  ["Returns.events", (k, o) => answers(Returns.events(k, o)), [[note], {}]],
  ["Returns.events", (k) => answers(Returns.events([k])), [note]],
  ["Returns.jsonLines", (x, o) => answers(Returns.jsonLines(x, o)), [text, {}]],
  ["Returns.jsonLines", (x) => answers(Returns.jsonLines(text, { doc: x })), ["The lines."]],
  ["Returns.websocket", (x) => answers(Returns.websocket(chat, { compression: x })), [{ minBytes: 1 }]],
  ["Returns.websocket", (p, o) => answers(Returns.websocket(p, o)), [chat, {}]],
];

const events: readonly Row[] = [
  ["Event.json", (x, s) => answers(Returns.events([Event.json(x, s)])), ["b", text]],
  ["Event.text", (x) => answers(Returns.events([Event.text(x)])), ["b"]],
  ["Event.make", (k, x, o) => Event.make(k, x, o), [note, "x", {}]],
  ["Event.retry", (o) => Event.retry(o), [{ ms: 1 }]],
  ["Event.comment", (x) => Event.comment(x), ["x"]],
  ["Event.data", (x) => Event.data(x), ["x"]],
  ["Event.data", (o) => Event.data("x", o), [{}]],
  ["Socket.json", (x) => Socket.json(x), [text]],
  [
    "Socket.protocol",
    (o) => answers(Returns.websocket(Socket.protocol(o))),
    [{ client: Socket.text, server: Socket.text }],
  ],
  ["Socket.credential", (x) => Socket.credential(x), ["bearer."]],
  ["Socket.protocol", (x) => Socket.protocol({ client: Socket.text, server: Socket.text, subprotocol: x }), ["chat"]],
  ["Socket.encode", (m) => Socket.encode(m, "x"), [Socket.text]],
  ["Broadcast.create", (o) => Broadcast.create(o), [{}]],
  ["Broadcast.create", (x) => Broadcast.create({ behind: x }), ["skip"]],
];

const stated: readonly Row[] = [
  ["Codec.custom", (o) => Codec.custom(o), [{ kind: "b", parse: Codec.string.parse, print: String }]],
  ["Codec.enum", (x, list) => Codec.enum(x, list), ["b", ["c"]]],
  ["Shape.named", (x, s) => Shape.named(x, s), ["wrong argument", v.string()]],
  ["Shape.described", (s, j) => Shape.described(s, j), [v.string(), names({})]],
  ["Meta.onAll", (r, k) => Meta.onAll(r, k, true), [[hello], Meta.hidden]],
  ["Meta.onAll", (r) => Meta.onAll([r], Meta.hidden, true), [hello]],
  ["Health.routes", (c, o) => appOf(...Health.routes(c, o)), [[], {}]],
  ["Health.check", (x, f) => appOf(...Health.routes([Health.check(x, f)])), ["b", done]],
  ["Openapi", (r, o) => Openapi.document(r, o), [[hello], {}]],
  ["Openapi", (r) => Openapi.document([r]), [hello]],
  ["Openapi", (r) => Openapi.report(r), [[hello]]],
  ["Openapi", (r, o) => appOf(...Openapi.docs(r, o)), [[hello], {}]],
  ["Openapi.docs", (x) => Openapi.docs([hello], { at: x }), [Path.of("docs")]],
  ["Openapi.docs", (x) => Openapi.docs([hello], { document: x }), [Path.of("api.json")]],
  ["App.make", (r, o) => App.make(r, o), [[hello], {}]],
  ["App.make", (x) => App.make([hello], { cors: x }), [Cors.make({ origins: "any" })]],
  ["App.make", (x) => App.make([hello], { trustedOrigins: x }), [["https://a.example"]]],
  ["Deadline.make", (ms) => App.make([hello], { deadline: Deadline.make(ms) }), [1000]],
  ["Overload.make", (o) => App.make([hello], { overload: Overload.make(o) }), [{ maxInFlight: 1 }]],
  ["Proxies.make", (x, o) => App.make([hello], { trustedProxies: Proxies.make(x, o) }), [1, {}]],
];

const ring = Keys.ring("0123456789abcdef0123456789abcdef");
const session = { store: Sessions.memory(), shape: v.object({}), idleMs: 1, absoluteMs: 1 };
const rate = Rate.make({ limit: 1, perMs: 1 });
const reads = (input: unknown) =>
  appOf(get(Path.of("a"), { inputs: { x: input as never }, returns: Returns.text }, done));
const cookies = (cookie: unknown) => reads(Cookie.optional(cookie as never));
const guarded: readonly Row[] = [
  ["Cookie.make", (c, x, o) => Cookie.make(c, x, o), [Cookie.named("b", Codec.string), "x", {}]],
  ["Cookie.clear", (c, o) => Cookie.clear(c, o), [Cookie.named("b", Codec.string), {}]],
  ["Cookie.signed", (k, x, c, o) => cookies(Cookie.signed(k, x, c, o)), [ring, "b", Codec.string, {}]],
  ["Cookie.encrypted", (k, x, c, o) => cookies(Cookie.encrypted(k, x, c, o)), [ring, "b", Codec.string, {}]],
  ["Rate.make", (o) => Rate.make(o), [{ limit: 1, perMs: 1 }]],
  ["Rate.limit", (r, o) => Rate.limit(r, o), [rate, { key: client }]],
  ["Sessions.make", (o) => Sessions.make(o), [session]],
  ["Sessions.make", (x) => Sessions.make({ ...session, shape: x }), [v.object({})]],
  ["Sessions.make", (x) => Sessions.make({ ...session, cookie: x }), ["b"]],
  ["Cors.make", (o) => Cors.make(o), [{ origins: "any" }]],
  ["Cors.make", (x) => Cors.make({ origins: x }), [["https://a.example"]]],
  ["Cors.make", (x) => Cors.make({ origins: "any", headers: x }), [["x-a"]]],
  ["Cors.make", (x) => Cors.make({ origins: "any", expose: x }), [["x-a"]]],
  ["Cors.make", (x) => App.make([hello], { cors: Cors.make({ origins: "any", routes: x }) }), [[hello]]],
  ["Rate.limit", (x) => reads(Rate.limit(rate, { key: x })), [client]],
  ["Keys.ring", (x) => Keys.ring(x), ["0123456789abcdef0123456789abcdef"]],
];

export const answerTables: Tables = {
  "an answer": returned,
  "an event or a socket": events,
  "what is said of types and routes": stated,
  "a policy": guarded,
};
