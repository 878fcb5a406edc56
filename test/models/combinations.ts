/** Routes of every combination of some features, which note what becomes of each request by its id. */
import fc from "fast-check";
import * as v from "valibot";
import {
  Answer,
  App,
  Body,
  Codec,
  Dep,
  Form,
  Path,
  Proxies,
  Query,
  Refusal,
  Returns,
  after,
  bodyStream,
  html,
  json,
  refuse,
  requestId,
  route,
} from "usher-http";
import type { App as UsherApp, AppOptions, Middleware, Route } from "usher-http";
import { Conditional } from "usher-http/conditional";

const teapot = Refusal.code("teapot", { status: 418, doc: "It is a teapot." });
const Thing = v.object({ name: v.string() });
const text = "A text of some length.";
const bytes = new TextEncoder().encode(text);

export interface Features {
  readonly reads: "nothing" | "json" | "form" | "parts";
  readonly answers: "text" | "page" | "stream" | "ranged" | "lines" | "nothing";
  /** An input of the head is there later. */
  readonly waits: boolean;
  /** A value is acquired: at once, or later; `kept` before the answer is sent. */
  readonly holds: "nothing" | "at once" | "later" | "kept";
  /** The handler gives the answer an entity tag. */
  readonly isTagged: boolean;
  readonly layers: readonly ("copy" | "replace" | "early")[];
}

export const features: fc.Arbitrary<Features> = fc.record({
  reads: fc.constantFrom("nothing", "json", "form", "parts"),
  answers: fc.constantFrom("text", "page", "stream", "ranged", "lines", "nothing"),
  waits: fc.boolean(),
  holds: fc.constantFrom("nothing", "at once", "later", "kept"),
  isTagged: fc.boolean(),
  layers: fc.subarray(["copy", "replace", "early"] as const),
});

export interface Ask {
  readonly does: "answer" | "refuse" | "throw";
  readonly isHead: boolean;
  readonly body: "right" | "wrong" | "empty";
  readonly isChunked: boolean;
  readonly headers: readonly string[];
}

export const ask: fc.Arbitrary<Ask> = fc.record({
  does: fc.constantFrom("answer", "answer", "refuse", "throw"),
  isHead: fc.boolean(),
  body: fc.constantFrom("right", "wrong", "empty"),
  isChunked: fc.boolean(),
  headers: fc.subarray(['if-none-match: "v1"', "range: bytes=2-4", "accept: text/plain"]),
});

/** Their type, one that fits and one that does not. */
const bodies: { readonly [reads in Exclude<Features["reads"], "nothing">]: readonly [string, string, string] } = {
  json: ["application/json", '{"name":"a"}', "{"],
  form: ["application/x-www-form-urlencoded", "name=a", "name"],
  parts: ["application/octet-stream", "some bytes", "x".repeat(101)],
};

/** The method, the type of the body, and the body. */
export function sent(
  { reads }: Features,
  { isHead, body }: Ask,
): readonly [method: string, type: string, body: string] {
  if (reads === "nothing") return [isHead ? "HEAD" : "GET", "", ""];
  const [type, right, wrong] = bodies[reads];
  return ["POST", type, { right, wrong, empty: "" }[body]];
}

/** What became of one request. */
export class Fate {
  isHandled = false;
  acquired = 0;
  readonly kept: string[] = [];
  readonly released: string[] = [];
  readonly tasks: string[] = [];
  /** Streams that began and have not ended. */
  open = 0;
}

const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** An app of one route, and what became of its requests. */
export function appOf(one: Features): { readonly app: UsherApp; readonly fateOf: (id: string) => Fate } & Served {
  const fates = new Map<string, Fate>();
  const fateOf = (id: string): Fate => {
    const fate = fates.get(id) ?? new Fate();
    fates.set(id, fate);
    return fate;
  };
  const { routes, options } = served(one, fateOf);
  return { app: App.make(routes, options), fateOf, routes, options };
}

interface Served {
  readonly routes: readonly Route[];
  readonly options: AppOptions;
}

function served(one: Features, fateOf: (id: string) => Fate): Served {
  const inputs: { [name: string]: Dep<unknown> } = {
    id: requestId,
    does: Query.default("does", Codec.string, "answer"),
    after,
  };
  if (one.waits) inputs["waited"] = Dep.join({}, () => later().then(() => "waited"));
  if (one.holds !== "nothing") inputs["held"] = held(one, fateOf);
  if (one.isTagged) inputs["validators"] = Conditional.validators;
  if (one.reads === "json") inputs["sent"] = json(Thing);
  if (one.reads === "form") inputs["sent"] = Form.required("name", Codec.string);
  if (one.reads === "parts") inputs["parts"] = bodyStream({ max: 100 });
  const returns = { text: Returns.text, page: Returns.html, lines: Returns.jsonLines(Thing), nothing: Returns.empty() };
  const made = route(
    one.reads === "nothing" ? "GET" : "POST",
    Path.of("x"),
    {
      inputs,
      returns: (returns as { [kind: string]: Returns<unknown> })[one.answers] ?? Returns.response,
      refuses: [teapot],
    },
    async (given) => {
      const values = given as unknown as Values;
      const fate = fateOf(values.id);
      fate.isHandled = true;
      for (let read = await values.parts?.read(); read !== undefined; read = await values.parts?.read()) {
        if (!read.ok) return Body.refusal(read.error);
        if (read.value === undefined) break;
      }
      values.after((end) => void fate.tasks.push(`${end.status}`), { always: true });
      if (values.does === "refuse") return refuse(teapot, "No.");
      if (values.does === "throw") throw new Error("s3cret");
      values.validators?.({ etag: "v1" });
      return answerOf(one, fate) as never;
    },
  );
  return {
    routes: [made],
    options: { trustedProxies: Proxies.make(["127.0.0.1"]), middleware: one.layers.map((name) => layers[name]) },
  };
}

interface Values {
  readonly id: string;
  readonly does: string;
  readonly after: typeof after extends Dep<infer A> ? A : never;
  readonly parts?: Body;
  readonly validators?: (validators: { readonly etag: string }) => void;
}

function held({ holds }: Features, fateOf: (id: string) => Fate): Dep<unknown> {
  return Dep.scoped(
    { id: requestId },
    ({ id }) => {
      fateOf(id).acquired++;
      return holds === "later" ? later().then(() => id) : id;
    },
    (id, { status }) => void fateOf(id).released.push(`${status}`),
    holds === "kept"
      ? {
          beforeAnswer: async (id, refused, hasFailed) => {
            await later();
            fateOf(id).kept.push(refused === undefined && !hasFailed ? "commit" : "roll back");
          },
        }
      : {},
  );
}

function answerOf({ answers }: Features, fate: Fate): unknown {
  async function* streamed<A>(parts: readonly A[]): AsyncGenerator<A> {
    fate.open++;
    try {
      for (const part of parts) {
        await later();
        yield part;
      }
    } finally {
      fate.open--;
    }
  }
  if (answers === "text") return text;
  if (answers === "page")
    return html`<p>${later().then(() => text)}</p>
      <p>
        ${later()
          .then(later)
          .then(() => text)}
      </p>`;
  if (answers === "stream") return Answer.stream(streamed([bytes, bytes]), { contentType: "text/plain" });
  if (answers === "lines") return streamed([{ name: "a" }, { name: "b" }]);
  if (answers === "nothing") return undefined;
  const read = (first: number, last: number): AsyncIterable<Uint8Array> => streamed([bytes.subarray(first, last + 1)]);
  return Conditional.ranged({ length: bytes.length, read }, { contentType: "text/plain", etag: "v1" });
}

const layers: { readonly [name in Features["layers"][number]]: Middleware } = {
  copy: async (_request, next) => {
    const answer = await next();
    return { ...answer, headers: [...answer.headers, ["x-copied", "1"]] };
  },
  replace: async (_request, next) => {
    const { refused, status } = await next();
    return refused === undefined ? Answer.make("replaced") : Answer.html("<p>No.</p>", { status });
  },
  early: (_request, next) => {
    void next();
    return Answer.make("early", { status: 202 });
  },
};
