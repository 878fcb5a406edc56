/** What JavaScript can get wrong in routes, clients, stores, policies, exporters and tests. */
import {
  Alarm,
  App,
  Background,
  Broadcast,
  Client,
  Codec,
  Dep,
  Event,
  Form,
  Health,
  HttpClient,
  Idempotency,
  Meta,
  Metrics,
  Openapi,
  Password,
  Path,
  Rate,
} from "usher-http";
import {
  RefusalFormat,
  Returns,
  SecureHeaders,
  Sessions,
  Socket,
  Test,
  Trace,
  Webhook,
  del,
  get,
  patch,
  post,
  put,
  route,
} from "usher-http";
import { german, language, languages } from "usher-http/languages";
import { Mcp } from "usher-http/mcp";
import {
  RefusedError,
  infiniteOptions,
  mayRetry,
  mutationOptions,
  queryKey,
  queryOptions,
  withBase,
} from "usher-http/tanstack-query";
import * as v from "valibot";
import { appOf, names, optional } from "./rule.ts";
import type { Row, Tables } from "./rule.ts";

const done = () => "done";
const a = Path.of("a");
const text = { returns: Returns.text };
const hello = get(a, text, done);
const app = Test.app([hello]);
const everybody = { caller: Dep.return("everybody") };
const cheap = { log2N: 1, r: 1, p: 1 };
const cheapHash = await Password.make({ cost: cheap }).hash("x");
const signing = { scheme: "github", secrets: ["a secret of the table's own"] } as const;

const signIn = { resource: "https://api.example.com/mcp", issuers: ["https://login.example.com"] };
const shop = { name: "shop", version: "1" };
const routes: readonly Row[] = [
  ["GET /a", (p, o, f) => appOf(get(p, o, f)), [a, text, done]],
  ["get", (p) => get(p, text, done), [a]],
  ["post", (p) => post(p, text, done), [a]],
  ["put", (p) => put(p, text, done), [a]],
  ["patch", (p) => patch(p, text, done), [a]],
  ["del", (p) => del(p, text, done), [a]],
  ["route", (m, p, o, f) => appOf(route(m, p, o, f)), ["GET", a, text, done]],
  ["Meta.key", (x) => Meta.key(x), ["owner"]],
  ["Meta.tool", (o) => Meta.tool(o), [{}]],
  ["Meta.tool", (x) => Meta.tool({ name: x }), ["list"]],
  ["Meta.add", (k) => Meta.empty.add(k, "x"), [Meta.operationId]],
  ["Dep.ofResource", (x) => Dep.ofResource(x), ["pool"]],
  [
    "Form.File.optional",
    (x, o) => appOf(post(a, { inputs: { x: Form.File.optional(x, o) }, returns: Returns.text }, done)),
    ["b", {}],
  ],
  [
    "Form.default",
    (x, k, d, o) => appOf(post(a, { inputs: { x: Form.default(x, k, d, o) }, returns: Returns.text }, done)),
    ["b", Codec.int, 1, {}],
  ],
  ["Openapi.document", (r, o) => Openapi.document(r, o), [[hello], {}]],
  ["Openapi.report", (r) => Openapi.report(r), [[hello]]],
  ["Health.check", (x, f) => Health.check(x, f), ["b", done]],
  ["Health.routes", (x) => Health.routes([], { live: x }), [Path.of("live")]],
];

const clients: readonly Row[] = [
  ["Client.of", (o) => Client.of(o), [{ baseUrl: "" }]],
  ["Client.of", (x) => Client.of({ baseUrl: x }), ["http://localhost"]],
  ["HttpClient.make", (o) => HttpClient.make(o), [{}]],
  ["HttpClient.make", (x) => HttpClient.make({ baseUrl: x }), ["http://localhost"]],
  ["HttpClient.make", (o) => HttpClient.make({ headers: o }), [names({})]],
  ["HttpClient.fetch", (x, o) => HttpClient.make().fetch(x, o), ["nowhere:x", names({})], /fetch failed/],
];

const event = Event.make(Event.text("note"), "x");
const hub = Broadcast.create();
const stores: readonly Row[] = [
  ["Rate.memory", (o) => Rate.memory(o), [{}]],
  ["Webhook.verify", (s, o) => Webhook.verify(s, o), [v.string(), signing]],
  ["Webhook.verify", (x) => Webhook.verify(v.string(), { ...signing, secrets: x }), [signing.secrets]],
  ["Webhook.verify", (x) => Webhook.verify(v.string(), { ...signing, toleranceMs: x }), [1]],
  ["Webhook.verify", (x) => Webhook.verify(v.string(), { ...signing, seen: x }), [Rate.memory()]],
  ["Webhook.sign", (b, o) => Webhook.sign(b, o), ["{}", signing]],
  ["Rate.make", (x) => Rate.make({ limit: 1, perMs: 1, store: x }), [Rate.memory()]],
  ["Idempotency.by", (s, o) => Idempotency.by(s, o), [Idempotency.memory(), everybody]],
  ["Idempotency.by", (x) => Idempotency.by(Idempotency.memory(), { caller: x }), [Dep.return("x")]],
  ["Idempotency.by", (x) => Idempotency.by(Idempotency.memory(), { ...everybody, required: x }), [true]],
  ["Idempotency.by", (x) => Idempotency.by(Idempotency.memory(), { ...everybody, bare: x }), [true]],
  ["Idempotency.by", (x) => Idempotency.by(Idempotency.memory(), { ...everybody, whenLost: x }), ["run"]],
  ["Idempotency.by", (x) => Idempotency.by(Idempotency.memory(), { ...everybody, keepMs: x }), [1]],
  ["Idempotency.memory", (o) => Idempotency.memory(o), [{}]],
  ["Password.make", (o) => Password.make(o), [{}]],
  ["Password.make", (x) => Password.make({ cost: x }), [cheap]],
  ["Password.make", (x) => Password.make({ algorithm: x }), ["scrypt"]],
  ["Password.make", (x) => Password.make({ atOnce: x }), [1]],
  ["Password.make", (x) => Password.make({ maxWaiting: x }), [1]],
  ["Password.make", (x) => Password.make({ waitMs: x }), [1]],
  ["Password.make", (x) => Password.make({ maxBytes: x }), [1]],
  ["Password.hash", (x) => Password.make({ cost: cheap }).hash(x), ["x"]],
  ["Password.hash", (x) => Password.hash(x), ["x"]],
  ["Password.verify", (x) => Password.verify(undefined, x), ["x"]],
  ["Password.verify", (s, x) => Password.make({ cost: cheap }).verify(s, x), [cheapHash, "x"]],
  ["Sessions.memory", (o) => Sessions.memory(o), [{}]],
  ["Hub.subscribe", (x) => hub.subscribe(x, undefined), ["x"]],
  ["Hub.publish", (x, e) => hub.publish(x, e), ["x", event]],
  ["Hub.subscribers", (x) => hub.subscribers(x), ["x"]],
  ["Broadcast.create", (x) => Broadcast.create({ relay: x }), [{ subscribe: async () => {}, publish: async () => {} }]],
];

const policies: readonly Row[] = [
  ["RefusalFormat.json", (o) => RefusalFormat.json(o), [{ shape: v.string(), write: done }]],
  ["RefusalFormat.json", (f) => RefusalFormat.json({ shape: v.string(), write: f }), [done]],
  ["RefusalFormat.json", (x) => RefusalFormat.json({ shape: x, write: done as never }), [v.string()]],
  ["RefusalFormat.text", (o) => RefusalFormat.text(o), [{ contentType: "text/plain", write: done }]],
  ["RefusalFormat.text", (x, f) => RefusalFormat.text({ contentType: x, write: f }), ["text/plain", done]],
  ["RefusalFormat.problemDetails", (o) => RefusalFormat.problemDetails(o), [{}]],
  ["SecureHeaders.make", (o) => SecureHeaders.make(o), [names({})]],
  ["SecureHeaders.make", (x) => SecureHeaders.make({ "x-a": x }), ["1"]],
];

const processor = { onStart: done, onEnd: done, forceFlush: done, shutdown: done };
const endpoint = "http://localhost:4318";
const exporters: readonly Row[] = [
  ["Trace.otlp", (o) => Trace.otlp(o), [{ endpoint, service: "shop" }]],
  ["Trace.otlp", (x, y) => Trace.otlp({ endpoint: x, service: y }), [endpoint, "shop"]],
  ["Trace.otlp", (x) => Trace.otlp({ endpoint, service: "shop", ratio: x }), [1]],
  ["Trace.otlp", (o) => Trace.otlp({ endpoint, service: "shop", headers: o }), [names({})]],
  ["Trace.exporter", (o) => Trace.exporter(o), [{ processor }]],
  ["Trace.exporter", (o) => Trace.exporter({ processor: o }), [processor]],
  ["Metrics.routes", (o) => Metrics.routes(o), [{}]],
  ["Metrics.routes", (x) => appOf(...Metrics.routes({ at: x })), [Path.of("m")]],
];

const protocol = Socket.protocol({ client: Socket.text, server: Socket.text });
const tests: readonly Row[] = [
  ["Test.mcp", (a, o) => Test.mcp(a, o), [app, {}]],
  ["Test.mcp", (x) => Test.mcp(app, { path: x }), ["/mcp"]],
  ["Test.app", (r, o) => Test.app(r, o), [[hello], {}]],
  ["Test.call", (t, m, x, o) => Test.call(t, m, x, o), [app, "GET", "/a", {}]],
  ["Test.call", (x) => Test.call(app, "GET", "/a", { headers: x }), [names({})]],
  ["Test.browser", (t) => Test.browser(t), [app]],
  ["Test.call", (m, x, o) => Test.browser(app).call(m, x, o), ["GET", "/a", {}]],
  ["Test.events", (t, x, f, o) => Test.events(t, x, f, o), [app, "/a", done, {}]],
  ["Test.websocket", (t, p, x, f, o) => Test.websocket(t, p, x, f, o), [app, protocol, "/a", done, {}]],
  ["App.make", (f) => App.make([hello], { onError: f }), [optional(() => "done")]],
  ["App.make", (f) => App.make([hello], { notFound: f }), [optional(() => "done")]],
  ["App.make", (f) => App.make([hello], { now: f }), [optional(() => new Date())]],
  ["App.make", (f) => App.make([hello], { middleware: [f] }), [done]],
  ["App.make", (o) => App.make([hello], { trace: o }), [Trace.exporter({ processor: processor as never })]],
  ["App.make", (o) => App.make([hello], { secureHeaders: o }), [SecureHeaders.make()]],
  ["App.make", (o) => App.make([hello], { refusalFormat: o }), [RefusalFormat.problemDetails()]],
  ["App.make", (x) => App.make([hello], { trailingSlash: x }), ["strict"]],
];

const background = Background.create();
const own: readonly Row[] = [
  ["Background.create", (o) => Background.create(o), [{}]],
  ["Background.create", (x) => Background.create({ maxRunning: x }), [7]],
  ["Background.create", (f) => Background.create({ onError: f }), [optional(() => "done")]],
  ["Background.start", (x, f) => background.start(x, f), ["x", done]],
  ["Background.settled", (x) => background.settled(x), [7]],
  ["Background.onDrain", (f) => background.onDrain(f), [done]],
  ["Alarm.create", (o) => Alarm.create(o), [{ background, what: "x" }]],
  ["Alarm.create", (o, x) => Alarm.create({ background: o, what: x }), [background, "x"]],
  ["Alarm.create", (x) => Alarm.create({ background, what: "x", maxSet: x }), [7]],
  ["Alarm.set", (x, f) => Alarm.create({ background, what: "x" }).set("a", x, f), [7, done]],
  ["Alarm.set", (x) => Alarm.create({ background, what: "x" }).set(x, 1, done), ["x"]],
  ["App.make", (o) => App.make([hello], { background: o }), [background]],
];

const api = Client.of<readonly [typeof hello]>({ baseUrl: "" });
const paging = { param: "after", next: done };
const refused = { ok: false, status: 409, error: "sold_out", message: "" } as const;
// Their types need a route, which JavaScript need not give.
const asked = queryOptions as (...given: unknown[]) => unknown;
const paged = infiniteOptions as (...given: unknown[]) => unknown;
const queries: readonly Row[] = [
  // The inputs may be a symbol: `skipToken`. Their other rows are in `test/client/tanstack`.
  ["queryOptions", (x, r) => asked(x, r, {}), [names(api), "GET /a"]],
  ["infiniteOptions", (x, r, p) => paged(x, r, {}, p), [names(api), "GET /a", paging]],
  ["infiniteOptions", (x, f) => paged(api, "GET /a", {}, { param: x, next: f }), ["after", done]],
  ["mutationOptions", (x, r) => mutationOptions(x, r), [names(api), "POST /a"]],
  ["queryKey", (x, r, g) => queryKey(x, r, g), [names(api), "GET /a", names({})]],
  ["withBase", (x, base) => withBase(x, base), [names(api), "eu"]],
  ["mayRetry", (n) => mayRetry(n, undefined), [1]],
  ["RefusedError", (o) => new RefusedError(o), [refused]],
];

export const serviceTables: Tables = {
  "a route": routes,
  "a client": clients,
  "usher-http/tanstack-query": queries,
  "usher-http/client": [["of", (o) => Client.of(o), [{ baseUrl: "" }]]],
  "a store or a hub": stores,
  "a format or a header": policies,
  "work of the application's own": own,
  "usher-http/languages": [
    ["language", (x, o, p) => language(x, o, p), ["de", german.sentences, names({})]],
    ["languages", (x, o) => languages(x, o), [[german], {}]],
    ["languages", (x) => languages([german], { fallback: x }), [german]],
    ["App.make", (o) => App.make([hello], { languages: o }), [languages([german])]],
  ],
  "an exporter": exporters,
  "usher-http/mcp": [
    ["Mcp.routes", (r, o) => Mcp.routes(r, o), [[hello], shop]],
    ["Mcp.routes", (x, y) => Mcp.routes([hello], { name: x, version: y }), ["shop", "1"]],
    ["Mcp.routes", (x) => Mcp.routes([hello], { ...shop, path: x }), ["/mcp"]],
    ["Mcp.routes", (o) => Mcp.routes([hello], { ...shop, inputs: o }), [names({})]],
    ["Mcp.routes", (x) => Mcp.routes([hello], { ...shop, hosts: x }), [["api.example.com"]]],
    ["Mcp.routes", (x) => Mcp.routes([hello], { ...shop, pageSize: x }), [10]],
    ["Mcp.routes", (x) => Mcp.routes([hello], { ...shop, resources: x }), [[Mcp.resource(hello)]]],
    ["Mcp.routes", (x) => Mcp.routes([hello], { ...shop, prompts: x }), [[]]],
    ["Mcp.routes", (o) => Mcp.routes([hello], { ...shop, authorization: o }), [signIn]],
    ["Mcp.resource", (r, o) => Mcp.resource(r, o), [hello, {}]],
    ["Mcp.resource", (x) => Mcp.resource(hello, { uri: x }), ["shop://a"]],
    ["Mcp.prompt", (x, s, f, o) => Mcp.prompt(x, s, f, o), ["review", v.object({}), done, {}]],
    ["Mcp.prompt", (x) => Mcp.prompt("review", v.object({}), done, { title: x }), ["Review"]],
  ],
  "a test": tests,
};
