/** Rows AL on the runtime that runs this file, with a fake clock. It writes what it observed as a line of JSON. */
import { Alarm, Background, Log, Path, Returns, get } from "usher-http";
import type { serve as Serve } from "usher-http/node";

/** Timers that only `pass` advances. */
let now = 0;
let timers: { readonly at: number; readonly act: () => void }[] = [];
const { setTimeout: realTimeout } = globalThis;
const held = (act: () => void, ms: number) => {
  const timer = { at: now + ms, act };
  timers.push(timer);
  return timer;
};
function pass(ms: number): void {
  now += ms;
  const due = timers.filter(({ at }) => at <= now);
  timers = timers.filter(({ at }) => at > now);
  for (const { act } of due) act();
}

interface Line {
  readonly message: string;
  readonly request_id?: string;
}
const lines: Line[] = [];
Log.setup({ format: "json", out: (line) => lines.push(JSON.parse(line) as Line) });
const background = Background.create();
const alarms = Alarm.create({ background, what: "alarm" });
const program = Log.source("program");

// The request of the row starts the work; a loop runs until the server stops.
const begin = get(Path.of("begin"), { returns: Returns.text }, () => {
  background.start("job", async () => {
    await new Promise((resolve) => realTimeout(resolve, 1));
    program.info("working");
    throw new Error("s3cret");
  });
  alarms.set("late", 1, () => program.info("rang"));
  return "begun";
});
background.start("loop", async (signal) => {
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  await new Promise((resolve) => realTimeout(resolve, 20));
  program.info("loop ended");
});
background.start("never", () => new Promise(() => {}));

const adapter = "Bun" in globalThis ? "bun" : "Deno" in globalThis ? "deno" : "node";
const { serve } = (await import(`usher-http/${adapter}`)) as { readonly serve: typeof Serve };
const server = await serve([begin], { port: 0, background, drainMs: 0 });

const { setTimeout: real, clearTimeout: realClear } = globalThis;
Object.assign(globalThis, {
  setTimeout: held,
  clearTimeout: (timer: unknown) => (timers = timers.filter((one) => one !== timer)),
});
const fired: string[] = [];
alarms.set("key", 60_000, () => fired.push("first"));
alarms.set("key", 20, () => fired.push("second"));
const wall = Date.now;
Date.now = () => wall() + 86_400_000;
pass(19);
fired.push("19 ms");
pass(100_000);
Date.now = wall;
Object.assign(globalThis, { setTimeout: real, clearTimeout: realClear });

const id = (await fetch(`${server.url}/begin`)).headers.get("x-request-id");
const own = () => lines.flatMap((line) => (line.request_id === id ? [line.message] : []));
while (own().length < 4) await new Promise((resolve) => realTimeout(resolve, 1));
alarms.set("dropped", 1, () => fired.push("dropped"));
const cut = await server.stop();
const last = lines.filter(({ message }) => /^stopp|loop/.test(message)).map(({ message }) => message);
console.log(JSON.stringify({ fired, own: own().toSorted(), last, cut, set: alarms.size }));
