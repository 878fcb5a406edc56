/** One request whose input, handler, middleware, body, deadline and client end in any order, and what is left of it. */
import fc from "fast-check";
import * as v from "valibot";
import {
  Answer,
  App,
  Deadline,
  Dep,
  Event,
  Idempotency,
  Meta,
  Overload,
  Path,
  Refusal,
  RefusalFormat,
  Returns,
  Socket,
  after,
  clientGone,
  get,
  html,
  json,
  post,
  refuse,
} from "usher-http";
import type { App as UsherApp, AppOptions, Middleware, Producer, Route, SocketHandler } from "usher-http";
import type { InputRequest } from "../../src/inputs/request.ts";
import { gate } from "../support/gate.ts";
import type { Gate } from "../support/gate.ts";

const teapot = Refusal.code("teapot", { status: 418, doc: "It is a teapot." });
const tick = Event.text("tick");
const chat = Socket.protocol({ client: Socket.text, server: Socket.text });

/** What a part of the request waits for. The body arrives, and the deadline passes, without one. */
export const gates = ["acquire", "acquire second", "handle", "commit", "middleware", "stream"] as const;
const steps = [...gates, "body", "deadline", "middleware's second", "leave", "read"] as const;
/** A listener's client also sends a part of its body. */
export type Step = (typeof steps)[number] | "body part";

const answers = [
  "text",
  "refusal",
  "error",
  "gone",
  "stream",
  "cut stream",
  "unwritable",
  "page",
  "cut page",
  "events",
  "cut events",
  "socket",
  "cut socket",
  "takeover",
  "cut takeover",
] as const;
const layers = ["copy", "late", "replace", "early", "race", "throwing race", "throw", "stream", "late stream"] as const;

/** What becomes of the scoped values: the second one is made from the first. */
const scopes = ["one", "two", "second fails", "commit fails", "second commit fails"] as const;

export interface Features {
  readonly method: "POST" | "HEAD";
  readonly scopes: (typeof scopes)[number];
  readonly answers: (typeof answers)[number];
  readonly layers: readonly (typeof layers)[number][];
  readonly readsBody: boolean;
  readonly hasKey: boolean;
  readonly hasProblem: boolean;
  /** Whether the request has a deadline; `"whole"` where it is the route's own, which also ends a stream. */
  readonly deadline: "none" | "answer" | "whole";
  /** What happens in this order. All other gates open after it. */
  readonly order: readonly Step[];
}

export const features: fc.Arbitrary<Features> = fc.record({
  method: fc.constantFrom("POST", "POST", "POST", "HEAD"),
  scopes: fc.constantFrom(...scopes),
  answers: fc.constantFrom(...answers),
  layers: fc.array(fc.constantFrom(...layers), { maxLength: 2 }),
  readsBody: fc.boolean(),
  hasKey: fc.boolean(),
  hasProblem: fc.boolean(),
  deadline: fc.constantFrom("none", "answer", "whole"),
  order: fc.shuffledSubarray([...steps]),
});

/** What became of the request. */
export class Fate {
  readonly gates: ReadonlyMap<string, Gate> = new Map(gates.map((name) => [name, gate()]));
  handled = 0;
  acquired = 0;
  released = 0;
  tasks = 0;
  /** Tasks that were added. */
  asked = 0;
  /** Whether the handler saw that its client had gone. */
  hasLeft = false;
  readonly kept: string[] = [];
  /** In the order of their releases. */
  readonly releases: string[] = [];
  /** The state of the request, once an input was read. */
  state: InputRequest | undefined = undefined;
  /** Streams that were made and have not ended. */
  open = 0;

  /** Called wherever the application's code runs. */
  looks: (state: InputRequest | undefined) => void = () => {};

  async passed(name: (typeof gates)[number]): Promise<void> {
    this.looks(this.state);
    await (this.gates.get(name) as Gate).passed;
    this.looks(this.state);
  }
}

/** Whether what the handler did is to be committed, where no deadline has passed. */
function commits(one: Features, { handled, hasLeft }: Fate): boolean {
  const { answers, hasKey, method } = one;
  // A key's answer is read before it is kept.
  const isRead = hasKey && method === "POST" && !connects(one);
  const raises = ["refusal", "error", "cut page"].includes(answers) || (isRead && answers === "cut stream");
  return handled === 1 && !raises && !hasLeft;
}

/** What each value gets before the answer, where no deadline has passed. A commit that fails undoes those after it. */
export function settled(one: Features, fate: Fate): readonly string[] {
  let isCommitted = commits(one, fate);
  return ["first", "second"]
    .slice(0, fate.acquired)
    .toReversed()
    .map((name) => {
      const line = `${name}: ${isCommitted ? "commit" : "roll back"}`;
      if (failsToCommit(one, name)) isCommitted = false;
      return line;
    });
}

function failsToCommit({ scopes }: Features, name: string): boolean {
  return scopes === (name === "first" ? "commit fails" : "second commit fails");
}

/** Whether a connection follows the head: the client then sends a handshake, by `GET` and without a key or a body. */
export function connects({ answers }: Features): boolean {
  return answers.endsWith("socket") || answers.endsWith("takeover");
}

/** The app of one route. */
export function appOf(one: Features, fate: Fate): UsherApp {
  const { routes, options } = partsOf(one, fate);
  return App.make(routes, options);
}

/** What the app is made of. */
export function partsOf(
  one: Features,
  fate: Fate,
): { readonly routes: readonly Route[]; readonly options: AppOptions } {
  const scoped = (name: string, after: Dep<unknown>, acquire: (typeof gates)[number]): Dep<string> =>
    Dep.scoped(
      { after },
      async () => {
        await fate.passed(acquire);
        if (one.scopes === `${name} fails`) throw new Error("s3cret");
        fate.acquired++;
        return name;
      },
      () => {
        fate.looks(fate.state);
        fate.released++;
        fate.releases.push(name);
      },
      {
        beforeAnswer: async (_value, refused, hasFailed) => {
          await fate.passed("commit");
          const commits = refused === undefined && !hasFailed;
          fate.kept.push(`${name}: ${commits ? "commit" : "roll back"}`);
          if (commits && failsToCommit(one, name)) throw new Error("s3cret");
        },
      },
    );
  const first = scoped("first", Dep.return(undefined), "acquire");
  const problem = Dep.problem({ at: "query.x", code: "malformed", message: "This is wrong." });
  // A node of the framework's own: the state itself, which no public input gives.
  const state: Dep<void> = { node: { from: [], compile: () => (request) => void (fate.state = request) } };
  const returns = returnsOf(one);
  const inputs: { [name: string]: Dep<unknown> } = { state, first, after, gone: clientGone };
  if (!["one", "commit fails"].includes(one.scopes)) inputs["second"] = scoped("second", first, "acquire second");
  if (one.hasProblem) inputs["wrong"] = Dep.join({}, () => problem);
  const isPost = one.method === "POST" && !connects(one);
  if (isPost && one.readsBody) inputs["sent"] = json(v.string());
  // A key is for an answer that is made before it is sent.
  if (isPost && one.hasKey && returns === Returns.response) {
    const key = Idempotency.by(Idempotency.memory(), { caller: Dep.return("everybody") });
    inputs["key"] = Dep.map(key as Dep<unknown>, (given) => given);
  }
  const makes = isPost ? post : get;
  const meta = one.deadline === "whole" ? Meta.empty.add(Meta.deadline, Deadline.make(50)) : Meta.empty;
  const made = makes(Path.of("x"), { inputs, returns, refuses: [teapot], meta }, async (given) => {
    const { after: later, gone } = given as unknown as Values;
    fate.handled++;
    fate.asked++;
    later(() => void fate.tasks++, { always: true });
    await fate.passed("handle");
    return answerOf(one, fate, { after: later, gone }) as never;
  });
  const options = {
    codes: [teapot],
    overload: Overload.make({ maxInFlight: 1 }),
    middleware: one.layers.map((name) => layersOf(fate)[name]),
    refusalFormat: RefusalFormat.problemDetails(),
    ...(one.deadline === "answer" ? { deadline: Deadline.make(50) } : {}),
  };
  return { routes: [made], options };
}

function returnsOf({ answers }: Features): typeof Returns.response {
  if (answers.endsWith("events")) return Returns.events([tick]) as never;
  return answers.endsWith("socket") ? (Returns.websocket(chat) as never) : Returns.response;
}

interface Values {
  readonly after: typeof after extends Dep<infer A> ? A : never;
  readonly gone: AbortSignal;
}

async function answerOf({ answers }: Features, fate: Fate, { after: later, gone }: Values): Promise<unknown> {
  const fails = (): never => {
    throw new Error("s3cret");
  };
  if (answers === "refusal") return refuse(teapot);
  if (answers === "error") return fails();
  if (answers === "stream") return Answer.stream(streamOf(fate));
  if (answers === "cut stream") return Answer.stream(streamOf(fate, fails));
  if (answers === "unwritable") return Answer.stream(streamOf(fate), { headers: [["no name", "x"]] });
  if (answers === "events") return eventsOf(fate, later);
  if (answers === "cut events") return eventsOf(fate, later, fails);
  if (answers.endsWith("socket")) return socketOf(fate, answers === "socket" ? undefined : fails);
  if (answers.endsWith("takeover"))
    return Answer.takeover("lines", connectionOf(fate, answers === "takeover" ? undefined : fails));
  const late = fate.passed("stream");
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
  let isOpen = true;
  const close = (): void => {
    if (isOpen) fate.open--;
    isOpen = false;
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await fate.passed("stream");
        // It may have been cancelled meanwhile.
        if (!isOpen) return;
        close();
        fails?.();
        controller.enqueue(new TextEncoder().encode("streamed"));
        controller.close();
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  );
}

/** A producer that sends one event, adds a task, and ends, or fails. */
function eventsOf(fate: Fate, later: Values["after"], fails?: () => never): Producer<typeof tick> {
  return async (send) => {
    fate.open++;
    try {
      await fate.passed("stream");
      await send(Event.make(tick, "1"));
      fate.asked++;
      later(() => void fate.tasks++, { always: true });
      fails?.();
    } finally {
      fate.open--;
    }
  };
}

/** A socket's handler that ends with its client, or with its gate. */
function socketOf(fate: Fate, fails?: () => never): SocketHandler<string, string> {
  return async (socket) => {
    fate.open++;
    try {
      await Promise.race([fate.passed("stream"), socket.receive()]);
      fate.looks(fate.state);
      fails?.();
    } finally {
      fate.open--;
    }
  };
}

/** The same of a protocol of the application's own. */
function connectionOf(fate: Fate, fails?: () => never): Parameters<typeof Answer.takeover>[1] {
  return async ({ readable }) => {
    fate.open++;
    try {
      await Promise.race([fate.passed("stream"), readable.getReader().read()]);
      fate.looks(fate.state);
      fails?.();
    } finally {
      fate.open--;
    }
  };
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
