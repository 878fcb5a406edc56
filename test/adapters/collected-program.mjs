/** `PROGRAM LISTENER...`: prints for each listener which handlers learned of their client's leave, or of their deadline, after a garbage collection. */
import { createServer } from "node:http";
import { connect } from "node:net";
import process from "node:process";
import { App, Deadline, Dep, Event, Log, Meta, Path, Returns, clientGone, deadline, get } from "usher-http";

Log.setup({ level: undefined });
const collect = globalThis.Bun === undefined ? globalThis.gc : () => globalThis.Bun.gc(true);
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

let begun;
let told;
/** Tells that the handler runs, and when the signal aborts. Nothing of the test's own holds the signal. */
const until = (signal) => {
  begun();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => {
      told("told");
      resolve("");
    });
  });
};

const lock = Dep.scoped(
  {},
  () => 1,
  () => told("told"),
);
const returns = Returns.text;
const meta = Meta.empty.add(Meta.deadline, Deadline.make(500));
const routes = [
  get(Path.of("gone"), { inputs: { clientGone }, returns }, ({ clientGone }) => until(clientGone)),
  get(Path.of("any"), { inputs: { clientGone }, returns }, ({ clientGone }) => until(AbortSignal.any([clientGone]))),
  get(Path.of("deadline"), { meta, inputs: { deadline }, returns }, ({ deadline }) => until(deadline)),
  get(Path.of("scoped"), { inputs: { lock, clientGone }, returns }, ({ clientGone }) => {
    begun();
    return new Promise((resolve) => clientGone.addEventListener("abort", () => resolve("")));
  }),
  get(
    Path.of("events"),
    { inputs: { clientGone }, returns: Returns.events([Event.text("a")]) },
    ({ clientGone }) =>
      () =>
        until(clientGone),
  ),
];
const app = App.make(routes);

/** Each listener's port. */
const listeners = {
  async node() {
    return (await (await import("usher-http/node")).serve(routes, { port: 0 })).port;
  },
  async whatwg() {
    const { createServerAdapter } = await import("@whatwg-node/server");
    const { whatwg } = await import("usher-http/whatwg");
    const server = createServer(createServerAdapter(whatwg(app)));
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    return server.address().port;
  },
  async bun() {
    return (await (await import("usher-http/bun")).serve(routes, { port: 0 })).port;
  },
  async "Bun.serve"() {
    return globalThis.Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: app.fetch }).port;
  },
  async deno() {
    return (await (await import("usher-http/deno")).serve(routes, { port: 0 })).port;
  },
  async "Deno.serve"() {
    return globalThis.Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, app.fetch).addr.port;
  },
};

async function outcomesAt(port) {
  const outcomes = {};
  for (const path of ["gone", "any", "deadline", "scoped", "events"]) {
    const running = new Promise((resolve) => (begun = resolve));
    const learned = new Promise((resolve) => (told = resolve));
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(`GET /${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
    await running;
    for (let time = 0; time < 3; time++) {
      collect();
      await wait(20);
    }
    if (path !== "deadline") socket.destroy();
    outcomes[path] = await Promise.race([learned, wait(10_000).then(() => "lost")]);
    socket.destroy();
  }
  return outcomes;
}

const outcomes = {};
for (const name of process.argv.slice(2)) outcomes[name] = await outcomesAt(await listeners[name]());
console.log(JSON.stringify(outcomes));
process.exit(0);
