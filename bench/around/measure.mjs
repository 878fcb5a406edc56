/** `node measure.mjs <milliseconds>`: sends what each thing around a route adds to a request, in nanoseconds, slice by slice. */
import { App, Deadline, Dep, Log, Path, Returns, Route, get } from "usher-http";
import { GivenExchange } from "../dispatch/candidates.mjs";

const [, , ms = "1000"] = process.argv;
Log.setup({ level: undefined });

const path = Path.of("api", "v1");
const text = { returns: Returns.text };
const hello = () => "Hello.";
let released = 0;
const value = Dep.scoped(
  {},
  () => 1,
  () => void released++,
);
const plain = [get(path, text, hello)];
const waits = [get(path, text, async () => "Hello.")];
const nested = Route.group({ prefix: Path.of("api") }, [get(Path.of("v1"), text, hello)]);
const scoped = [get(path, { ...text, inputs: { value } }, hello)];

/** What is measured, and what it is compared with. */
const pairs = {
  group: [App.make(plain), App.make(nested)],
  scoped: [App.make(plain), App.make(scoped)],
  deadline: [App.make(plain), App.make(plain, { deadline: Deadline.make(10_000) })],
  waiting: [App.make(waits), App.make(waits, { deadline: Deadline.make(10_000) })],
};

const asked = { method: "GET", target: "/api/v1", headers: {}, body: undefined };
const calls = 200;

/** Waits as a listener does: a promise costs it two more, and a response that tells of itself none. */
function arrived(sent) {
  if (!("then" in sent)) return sent;
  return new Promise((pass, fail) => {
    if ("passTo" in sent) sent.passTo({ pass, fail });
    else sent.then(pass, fail).then(undefined, fail);
  });
}

/** Nanoseconds per request, by what the listeners call. */
async function slice({ answer }) {
  const begin = process.hrtime.bigint();
  for (let i = 0; i < calls; i++) {
    const { status, body } = await arrived(answer(new GivenExchange(asked)));
    if (status !== 200 || body !== "Hello.") throw new Error("the answer is wrong");
  }
  const took = Number(process.hrtime.bigint() - begin) / calls;
  // What a request leaves to a later turn is in the next slice.
  await new Promise(setImmediate);
  return took;
}

async function laps(until, found) {
  for (let i = 0; performance.now() < until; i++) {
    for (const [name, apps] of Object.entries(pairs)) {
      // Whichever is first in a pair pays for what came before.
      for (const which of i % 2 === 0 ? [0, 1] : [1, 0]) found[name][which].push(await slice(apps[which]));
    }
  }
}

/** The time of a slice that other work of the machine did not interrupt. */
function undisturbed(figures) {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 5)];
}

const empty = () => Object.fromEntries(Object.keys(pairs).map((name) => [name, [[], []]]));
await laps(performance.now() + Number(ms) / 2, empty());
const found = empty();
await laps(performance.now() + Number(ms), found);
if (released === 0) throw new Error("nothing was released");
process.send?.(
  Object.fromEntries(Object.entries(found).map(([name, each]) => [name, undisturbed(each[1]) - undisturbed(each[0])])),
);
