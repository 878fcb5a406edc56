/** The Worker whose requests are answered while a part of their work still runs. */
import { Answer, Deadline, Dep, Idempotency, Meta, Path, Refusal, Returns, after, get, post, refuse } from "usher-http";
import type { IdempotencyStore, Middleware } from "usher-http";
import { worker } from "../../../adapters/workers/index.ts";

const seen: string[] = [];
const ms = (time: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, time));

/** A value that takes time to be acquired and released. */
const held = (acquireMs: number) =>
  Dep.scoped(
    {},
    async () => {
      await ms(acquireMs);
      seen.push("acquired");
    },
    async (_value, { how, status }) => {
      await ms(20);
      seen.push(`released: ${how} ${status}`);
    },
  );

/** Answers without the route where the request says so. */
const hasty: Middleware = (request, next) => {
  if (request.header("x-hasty") === undefined) return next();
  void next();
  return Answer.make("early", { status: 202 });
};
/** Has work of its own behind its route's. */
const thorough: Middleware = async (request, next) => {
  if (request.header("x-thorough") === undefined) return next();
  try {
    return await next();
  } finally {
    await ms(20);
    seen.push("middleware ended");
  }
};

/** A slow store that records what happens to each key. */
const store: IdempotencyStore = {
  claim: async () => undefined,
  extend: async () => {},
  async keep() {
    await ms(20);
    seen.push("kept");
    return true;
  },
  async free() {
    await ms(20);
    seen.push("freed");
  },
};
const once = Idempotency.by(store, { caller: Dep.return("everybody") });
/** Whose claim is done, perhaps, and its reply is lost. */
const losing: IdempotencyStore = { ...store, claim: () => Promise.reject(new Error("lost")) };

const text = { returns: Returns.text } as const;
const soon = { ...text, meta: Meta.empty.add(Meta.deadline, Deadline.make(50)) };

const routes = [
  get(Path.of("works"), { ...text, inputs: { held: held(20), after } }, async ({ after }) => {
    await ms(50);
    after(async () => {
      await ms(20);
      seen.push("task ended");
    });
    return "late";
  }),
  get(Path.of("acquires"), { ...soon, inputs: { held: held(200) } }, () => "late"),
  get(Path.of("finishes"), soon, async () => {
    await ms(200);
    seen.push("handled");
    return "late";
  }),
  post(Path.of("pays"), { ...soon, inputs: { once } }, async () => {
    await ms(200);
    return "late";
  }),
  post(Path.of("fails"), { ...soon, inputs: { once } }, async () => {
    await ms(200);
    return refuse(Refusal.busy);
  }),
  post(
    Path.of("loses"),
    { ...text, inputs: { once: Idempotency.by(losing, { caller: Dep.return("all") }) } },
    () => "x",
  ),
  get(Path.of("seen"), text, () => JSON.stringify(seen.splice(0))),
];

// oxlint-disable-next-line import/no-default-export -- what a Worker's module exports
export default worker(routes, { middleware: [hasty, thorough] });
