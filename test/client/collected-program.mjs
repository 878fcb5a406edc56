/**
 * Calls, by the built package, a server that does not finish its answer, and collects garbage meanwhile: prints how each call
 * ended. Each ends after so many milliseconds. Then calls it from requests that have a deadline, and for the keys of tokens.
 */
import process from "node:process";
import { App, Client, Deadline, HttpClient, Log, Meta, Path, Returns, get } from "usher-http";
import { Jwt } from "usher-http/jwt";

Log.setup({ level: undefined });

const baseUrl = `http://127.0.0.1:${process.argv[2]}`;
const endMs = Number(process.argv[3]);
const collect = globalThis.Bun === undefined ? globalThis.gc : () => globalThis.Bun.gc(true);

/** What a caller aborts after a while. Nothing but its timer and who listens holds it. */
function soon() {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new DOMException("", "TimeoutError")), endMs);
  return controller.signal;
}

/** How a call ended. Garbage is collected half way: once shows as much as repeatedly, at a quarter of the processor time. */
async function outcomeOf(call) {
  const collecting = setTimeout(() => collect(), endMs / 2);
  const lost = new Promise((resolve) => setTimeout(resolve, 5000 + endMs, "lost"));
  try {
    return await Promise.race([call().catch(({ name }) => name), lost]);
  } finally {
    clearTimeout(collecting);
  }
}

const read = async (response) => (await response).text();
const valueOf = async (call) => {
  const outcome = await call;
  return outcome.ok ? outcome.value : outcome.error;
};
/** How a loop over what arrives ended, after how many. */
async function lengthOf(call) {
  let length = 0;
  try {
    for await (const _ of await valueOf(call)) length++;
    return `${length}, ended`;
  } catch {
    return `${length}, failed`;
  }
}

const { fetch } = HttpClient.make({ baseUrl });
const api = Client.of({ baseUrl });
const never = new AbortController().signal;

/** Each way to end a call: of the platform's `fetch`, and of the typed client. */
const calls = {
  head: [(init) => read(fetch("/head", init)), (init) => valueOf(api["GET /head"](init))],
  body: [(init) => read(fetch("/json", init)), (init) => valueOf(api["GET /json"](init))],
  text: [(init) => read(fetch("/text", init)), (init) => valueOf(api["GET /text"](init))],
  lines: [(init) => read(fetch("/lines", init)), (init) => lengthOf(api["GET /lines"](init))],
  events: [(init) => read(fetch("/events", init)), (init) => lengthOf(api["GET /events"](init))],
  bytes: [(init) => read(fetch("/bytes", init)), (init) => valueOf(api["GET /bytes"](init)).then(read)],
};

/** Calls it from a route with a deadline. The app answers when it is over; the call must end, too. */
function underDeadline(call) {
  const meta = Meta.empty.add(Meta.deadline, Deadline.make(endMs));
  return new Promise((resolve) => {
    const calling = get(Path.of("calling"), { meta, returns: Returns.text }, async () => {
      resolve(await outcomeOf(call));
      return "";
    });
    void App.make([calling]).fetch(new Request("http://localhost/calling"));
  });
}

const outcomes = {};
for (const [kind, [raw, typed]] of Object.entries(calls)) {
  outcomes[kind] = {
    time: await outcomeOf(() => raw({ timeoutMs: endMs })),
    signal: await outcomeOf(() => raw({ signal: soon() })),
    "any of signals": await outcomeOf(() => raw({ signal: AbortSignal.any([never, soon()]) })),
    deadline: await underDeadline(() => raw({})),
    "deadline, beside a signal": await underDeadline(() => raw({ signal: never })),
    "signal of the typed client": await outcomeOf(() => typed({ signal: soon() })),
    "deadline of the typed client": await underDeadline(() => typed({})),
    "deadline of the typed client, beside a signal": await underDeadline(() => typed({ signal: never })),
  };
}

/** The status of a request whose token needs keys of an issuer that does not finish its answer. */
async function statusOfToken() {
  const keys = Jwt.jwks(`${baseUrl}/json`, { timeoutMs: endMs });
  const user = Jwt.bearer({ issuer: "https://login.example/", audience: "shop", keys, algorithms: ["ES256"] });
  const app = App.make([get(Path.of("me"), { inputs: { user }, returns: Returns.text }, () => "")]);
  const part = (value) => btoa(JSON.stringify(value)).replace(/=+$/, "");
  const authorization = `Bearer ${part({ alg: "ES256", kid: "a" })}.${part({})}.${"A".repeat(86)}`;
  const { status } = await app.fetch(new Request("http://localhost/me", { headers: { authorization } }));
  return status;
}
outcomes.keys = await outcomeOf(statusOfToken);
console.log(JSON.stringify(outcomes));
process.exit(0);
