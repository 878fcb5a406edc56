/** Routes with failures around them, for every runtime, and a record of the events. */
import { Answer, Deadline, Dep, Log, Meta, Path, Refusal, Returns, after, get, post, refuse } from "usher-http";
import type { Route } from "usher-http";
import { gate } from "../support/gate.ts";
import type { Gate } from "../support/gate.ts";

// A release may take ten seconds; the one that hangs has 5 ms here. The others keep the ten, however slow the machine is.
export const { setTimeout: realTimeout } = globalThis;
let isHanging = false;
Object.assign(globalThis, {
  setTimeout: (act: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
    realTimeout(act, isHanging && ms === 10_000 ? 5 : ms, ...args),
});

/** The log lines of the request. */
const lines: { readonly level: string; readonly message: string }[] = [];
Log.setup({
  format: "json",
  out: (line) => {
    if (line.includes("s3cret")) throw new Error("a line has the message of an error");
    lines.push(JSON.parse(line) as (typeof lines)[number]);
  },
});

const soldOut = Refusal.code("sold_out", { status: 409, doc: "None is left." });
/** The events of the last request. */
export const events: string[] = [];
const raise = (): never => {
  throw new Error("s3cret");
};
const never = (): Promise<never> => new Promise(() => {});
const noted = (name: string, release: () => unknown = () => {}) =>
  Dep.scoped(
    {},
    () => name,
    (value, { how, status }) => {
      events.push(`${value}: ${how} ${status}`);
      return release();
    },
  );
const outer = noted("outer");

export const commit: Gate = gate();
const bank = {
  async transaction(work: (db: string) => Promise<unknown>) {
    await work("db");
    events.push("asked to commit");
    await commit.passed;
    events.push("committed");
  },
};
const tx = Dep.transaction(Dep.ofRequest(() => bank));

const text = { returns: Returns.text, refuses: [soldOut] } as const;
const failing = Dep.scoped({}, raise, () => void events.push("released what was never acquired"));
const soon = { ...text, meta: Meta.empty.add(Meta.deadline, Deadline.make(2000)) };
export const routes: readonly Route[] = [
  get(Path.of("answered"), { ...text, inputs: { outer, inner: noted("inner") } }, () => "x"),
  get(Path.of("refused"), { ...text, inputs: { outer } }, () => refuse(soldOut, "None is left.")),
  get(Path.of("raised"), { ...text, inputs: { outer } }, raise),
  get(Path.of("half"), { ...text, inputs: { outer, failing } }, () => "x"),
  get(Path.of("release-raises"), { ...text, inputs: { outer, bad: noted("bad", raise) } }, () => "x"),
  get(Path.of("release-hangs"), { ...text, inputs: { outer, slow: noted("slow", never) } }, () => "x"),
  get(Path.of("after-fails"), { ...text, inputs: { after } }, ({ after }) => {
    after(async () => raise());
    after(() => void events.push("the next task"));
    return "x";
  }),
  get(Path.of("too-late"), { ...soon, inputs: { outer } }, never),
  get(Path.of("commit"), { ...soon, inputs: { outer, tx } }, () => "x"),
  post(Path.of("cut"), { inputs: { outer }, returns: Returns.response }, () => {
    const parts = async function* () {
      yield new TextEncoder().encode("part");
      raise();
    };
    return Answer.stream(parts(), { contentType: "text/plain" });
  }),
];

/** How many events and warnings a request has when it is over; one if it is not listed. */
export const expected: { readonly [path: string]: number } = {
  answered: 2,
  half: 2,
  raised: 2,
  "release-raises": 3,
  "release-hangs": 3,
  "after-fails": 2,
  commit: 4,
  cut: 2,
};

/** Clears the record before a request for a path. */
export function begin(path: string): void {
  [events.length, lines.length] = [0, 0];
  isHanging = path === "release-hangs";
}

export function warnings(): readonly string[] {
  return lines.filter(({ level }) => level !== "info").map(({ message }) => message);
}
