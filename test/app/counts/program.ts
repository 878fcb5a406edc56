/**
 * Run by Node 24 with `--expose-gc`: counts what a warm `GET` and a warm `POST` do, over `app.fetch` or over the Node listener,
 * and writes the counts as JSON. They do not depend on the speed of the machine.
 *
 * `program.mjs <fetch|node> <off|line>`, bundled by `builtProgram`. The second argument switches the access line on.
 */
import diagnostics from "node:diagnostics_channel";
import { Session } from "node:inspector";
import process from "node:process";
import { promiseHooks } from "node:v8";
import * as v from "valibot";
import { MemorySocket } from "./memory-socket.ts";

const { App, Codec, Header, Log, Path, Query, Returns, get, json, param, post } = await import("../../../src/index.ts");
const { serve } = await import("../../../adapters/node/index.ts");

const [, , over, lines] = process.argv;
const bundle = new URL(".", import.meta.url).href;
const warmUp = 3000;
const requests = 1000;

/** Sends one request; calls back when the response is complete. */
type Ask = (onAnswer: () => void) => void;

const Order = v.object({ id: v.number(), item: v.string(), quantity: v.number() });
const NewOrder = v.object({
  item: v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
  quantity: v.pipe(v.number(), v.integer(), v.minValue(1)),
});
const id = Path.int("id");
const routes = [
  get(
    Path.of("orders", id),
    {
      inputs: {
        id: param(id),
        quantity: Query.required("quantity", Codec.int),
        item: Header.required("x-item", Codec.string),
      },
      returns: Returns.json(Order),
    },
    (order) => order,
  ),
  post(
    Path.of("orders"),
    { inputs: { order: json(NewOrder) }, returns: Returns.json(Order, { status: 201 }) },
    ({ order }) => ({ id: 7, ...order }),
  ),
];

const body = JSON.stringify({ item: "a pen", quantity: 3 });
const cases = {
  get: { method: "GET", target: "/orders/7?quantity=3", headers: { "x-item": "a pen" }, body: "" },
  post: {
    method: "POST",
    target: "/orders",
    headers: { "content-type": "application/json", "content-length": String(body.length) },
    body,
  },
};
type Case = (typeof cases)["get" | "post"];

Log.setup(lines === "line" ? { level: "info", out: () => {} } : { level: undefined });
const askFor = over === "node" ? await overListener() : overFetch();
const asks = Object.values(cases).map((one) => askFor(one));

for (const ask of asks) await times(warmUp, ask);
const bytes = await each(leastBytes);
const promises = await each(promisesOf);
const functions = await each(functionsOf);
const counts = Object.keys(cases).map((name, i) => {
  return [name, { functions: functions[i], promises: promises[i], bytes: bytes[i] }];
});
process.stdout.write(JSON.stringify(Object.fromEntries(counts)), () => process.exit());

async function each(count: (ask: Ask) => Promise<number>): Promise<readonly number[]> {
  const counted: number[] = [];
  for (const ask of asks) counted.push(await count(ask));
  return counted;
}

/** Sends requests one after the other, each in its own turn of the event loop. All share one promise: more would be counted. */
function times(count: number, ask: Ask): Promise<void> {
  let left = count;
  return new Promise((resolve) => {
    const next = (): void => (left-- > 0 ? ask(later) : resolve());
    const later = (): void => void setImmediate(next);
    next();
  });
}

/** The functions of the framework and of Valibot that one request calls. */
async function functionsOf(ask: Ask): Promise<number> {
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await times(requests, ask);
  let calls = 0;
  session.post("Profiler.takePreciseCoverage", (failed, { result }) => {
    if (failed !== null) throw failed;
    for (const { url, functions } of result) {
      // The package and Valibot are in files of their own next to the program's file.
      if (!url.startsWith(bundle) || url === import.meta.url) continue;
      for (const { ranges } of functions) calls += ranges[0]?.count ?? 0;
    }
  });
  session.disconnect();
  return calls / requests;
}

/** The promises that one request creates, also those of Node. */
async function promisesOf(ask: Ask): Promise<number> {
  let made = 0;
  const stop = promiseHooks.onInit(() => made++);
  await times(requests, ask);
  stop();
  return made / requests;
}

/** The least of several runs: compilation by V8 and timers are in some runs and not in all. */
async function leastBytes(ask: Ask): Promise<number> {
  return Math.min(await bytesOf(ask), await bytesOf(ask), await bytesOf(ask));
}

/** The bytes that one request allocates on the heap: the young generation is so large that none is collected. */
async function bytesOf(ask: Ask): Promise<number> {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  await times(requests, ask);
  return (process.memoryUsage().heapUsed - before) / requests;
}

function overFetch(): (one: Case) => Ask {
  const { fetch } = App.make(routes);
  return ({ method, target, headers, body }) => {
    const url = `http://localhost${target}`;
    return (onAnswer) => {
      const request = new Request(url, { method, headers, body: body === "" ? null : body });
      void Promise.resolve(fetch(request)).then(onAnswer);
    };
  };
}

async function overListener(): Promise<(one: Case) => Ask> {
  const { port } = await serve(routes, { host: "127.0.0.1", port: 0, signals: false });
  const server = await serverAt(port);
  return ({ method, target, headers, body }) => {
    const socket = new MemorySocket();
    server.emit("connection", socket);
    const head = Object.entries({ host: "localhost", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    const bytes = Buffer.from(`${method} ${target} HTTP/1.1\r\n${head.join("")}\r\n${body}`);
    return (onAnswer) => socket.ask(bytes, onAnswer);
  };
}

/** The server that listens in this process, taken from Node's diagnostics channel at its first request. */
function serverAt(port: number): Promise<{ emit: (name: "connection", socket: MemorySocket) => void }> {
  return new Promise((resolve) => {
    diagnostics.subscribe("http.server.request.start", (message) => resolve((message as { server: never }).server));
    void fetch(`http://127.0.0.1:${port}/`);
  });
}
