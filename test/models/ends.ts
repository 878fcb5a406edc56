/** One request whose input, handler, middleware, body, deadline and client end in any order, and what is left of it. */
import fc from "fast-check";
import * as v from "valibot";
import {
  Answer,
  App,
  Dep,
  Idempotency,
  Path,
  Refusal,
  RefusalFormat,
  Returns,
  after,
  clientGone,
  html,
  json,
  post,
  refuse,
} from "usher-http";
import type { App as UsherApp, Middleware } from "usher-http";
import { gate } from "../support/gate.ts";
import type { Gate } from "../support/gate.ts";

const teapot = Refusal.code("teapot", { status: 418, doc: "It is a teapot." });

/** What a part of the request waits for. The body arrives, and the deadline passes, without one. */
const gates = ["acquire", "handle", "commit", "middleware", "stream"] as const;
const steps = [...gates, "body", "deadline", "middleware's second", "leave", "read"] as const;
export type Step = (typeof steps)[number];

const answers = ["text", "refusal", "error", "gone", "stream", "cut stream", "unwritable", "page", "cut page"] as const;
const layers = ["copy", "late", "replace", "early", "race", "throwing race", "throw", "stream", "late stream"] as const;

export interface Features {
  readonly answers: (typeof answers)[number];
  readonly layers: readonly (typeof layers)[number][];
  readonly readsBody: boolean;
  readonly hasKey: boolean;
  readonly hasProblem: boolean;
  readonly hasDeadline: boolean;
  /** What happens in this order. All other gates open after it. */
  readonly order: readonly Step[];
}

export const features: fc.Arbitrary<Features> = fc.record({
  answers: fc.constantFrom(...answers),
  layers: fc.array(fc.constantFrom(...layers), { maxLength: 2 }),
  readsBody: fc.boolean(),
  hasKey: fc.boolean(),
  hasProblem: fc.boolean(),
  hasDeadline: fc.boolean(),
  order: fc.shuffledSubarray([...steps]),
});

/** What became of the request. */
export class Fate {
  readonly gates: ReadonlyMap<string, Gate> = new Map(gates.map((name) => [name, gate()]));
  handled = 0;
  acquired = 0;
  released = 0;
  tasks = 0;
  /** Whether the handler saw that its client had gone. */
  hasLeft = false;
  readonly kept: string[] = [];
  /** Streams that were made and have not ended. */
  open = 0;

  passed(name: (typeof gates)[number]): Promise<void> {
    return (this.gates.get(name) as Gate).passed;
  }
}

/** Whether what the handler did is to be committed, where no deadline has passed. */
export function commits({ answers, hasKey }: Features, { handled, hasLeft }: Fate): boolean {
  // A key's answer is read before it is kept.
  const raises = ["refusal", "error", "cut page"].includes(answers) || (hasKey && answers === "cut stream");
  return handled === 1 && !raises && !hasLeft;
}

/** The app of one route. */
export function appOf(one: Features, fate: Fate): UsherApp {
  const held = Dep.scoped(
    {},
    () => fate.passed("acquire").then(() => ++fate.acquired),
    () => void fate.released++,
    {
      beforeAnswer: async (_value, refused, hasFailed) => {
        await fate.passed("commit");
        fate.kept.push(refused === undefined && !hasFailed ? "commit" : "roll back");
      },
    },
  );
  const problem = Dep.problem({ at: "query.x", code: "malformed", message: "This is wrong." });
  const inputs: { [name: string]: Dep<unknown> } = { held, after, gone: clientGone };
  if (one.hasProblem) inputs["wrong"] = Dep.join({}, () => problem);
  if (one.readsBody) inputs["sent"] = json(v.string());
  if (one.hasKey) {
    const key = Idempotency.by(Idempotency.memory(), { caller: Dep.return("everybody") });
    inputs["key"] = Dep.map(key as Dep<unknown>, (given) => given);
  }
  const made = post(Path.of("x"), { inputs, returns: Returns.response, refuses: [teapot] }, async (given) => {
    const { after: later, gone } = given as unknown as Values;
    fate.handled++;
    later(() => void fate.tasks++, { always: true });
    await fate.passed("handle");
    return answerOf(one, fate, gone) as never;
  });
  return App.make([made], {
    codes: [teapot],
    maxInFlight: 1,
    middleware: one.layers.map((name) => layersOf(fate)[name]),
    refusalFormat: RefusalFormat.problemDetails(),
    ...(one.hasDeadline ? { deadlineMs: 50 } : {}),
  });
}

interface Values {
  readonly after: typeof after extends Dep<infer A> ? A : never;
  readonly gone: AbortSignal;
}

async function answerOf({ answers }: Features, fate: Fate, gone: AbortSignal): Promise<unknown> {
  const late = fate.passed("stream");
  const fails = (): never => {
    throw new Error("s3cret");
  };
  if (answers === "refusal") return refuse(teapot);
  if (answers === "error") return fails();
  if (answers === "stream") return Answer.stream(streamOf(fate));
  if (answers === "cut stream") return Answer.stream(streamOf(fate, fails));
  if (answers === "unwritable") return Answer.stream(streamOf(fate), { headers: [["no name", "x"]] });
  if (answers === "page") return Answer.html(html`<p>${late.then(() => "late")}</p>`);
  if (answers === "cut page") return Answer.html(html`${late.then(fails)}`);
  if (answers === "gone") {
    const aborted = new Promise((resolve) => gone.addEventListener("abort", resolve));
    // Once it has its answer, its client is not reported as gone any more.
    if (!gone.aborted) await Promise.race([aborted, late]);
    fate.hasLeft = gone.aborted;
    gone.throwIfAborted();
  }
  return Answer.make("text");
}

/** A stream that is open until it is read to its end, cut or cancelled. */
function streamOf(fate: Fate, fails?: () => never): ReadableStream<Uint8Array> {
  fate.open++;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await fate.passed("stream");
        fate.open--;
        fails?.();
        controller.enqueue(new TextEncoder().encode("streamed"));
        controller.close();
      },
      cancel: () => void fate.open--,
    },
    { highWaterMark: 0 },
  );
}

function layersOf(fate: Fate): { readonly [name in Features["layers"][number]]: Middleware } {
  const waits = (): Promise<void> => fate.passed("middleware");
  return {
    copy: async (_request, next) => ({ ...(await next()) }),
    late: async (_request, next) => {
      const answer = await next();
      await waits();
      return answer;
    },
    replace: async (_request, next) => {
      const { refused } = await next();
      return refused === undefined ? Answer.make("replaced") : Answer.refusal(refused);
    },
    early: (_request, next) => {
      void next();
      return Answer.make("early", { status: 202 });
    },
    race: (_request, next) => Promise.race([next(), waits().then(() => Answer.make("early", { status: 202 }))]),
    "throwing race": (_request, next) =>
      Promise.race([
        next(),
        waits().then(() => {
          throw new Error("s3cret");
        }),
      ]),
    throw: async (_request, next) => {
      await next();
      throw new Error("s3cret");
    },
    stream: async (_request, next) => {
      await next();
      return Answer.stream(streamOf(fate));
    },
    "late stream": async (_request, next) => {
      void next();
      await waits();
      return Answer.stream(streamOf(fate));
    },
  };
}
