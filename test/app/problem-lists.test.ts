/**
 * Lists of problems are limited: 1 MiB of `[1,1,…]` made an answer of 2.4 MB and a log line of 1.5 MB. An answer lists
 * `maxProblems` of them, a log line 100, and each has the number of omitted ones.
 */
import { describe, expect, it } from "vitest";
import { App, Dep, Path, Query, Codec, Refusal, Returns, Socket, Test, get, json, post, refuse } from "usher-http";
import type { AppOptions, Problem, Route } from "usher-http";
import * as v from "valibot";
import { JsonReading } from "../../src/schema/reading.ts";
import { lines } from "../support/logs.ts";

const unfit = Refusal.code("unfit", { status: 422, doc: "Does not fit." });
const shape = v.array(v.string());
const listed = post(Path.of("listed"), { inputs: { body: json(shape) }, returns: Returns.text }, () => "");
const logged = post(
  Path.of("logged"),
  { inputs: { body: json(shape, { refusal: [unfit, "No."] }) }, returns: Returns.text },
  () => "",
);
const wrong = (count: number): string => `[${Array<string>(count).fill("1").join(",")}]`;

interface Told {
  readonly error: string;
  readonly message: string;
  readonly problems: readonly Problem[];
  readonly more?: number;
}

async function ask(body: string, options: AppOptions = {}, route: Route = listed): Promise<Told> {
  const { status, json } = await Test.call(Test.app([route], options), "POST", route.pattern, {
    body,
    headers: { "content-type": "application/json" },
  });
  expect([400, 422]).toContain(status);
  return json() as Told;
}

describe("an answer with many problems: limits", () => {
  it.each([
    [1, undefined, 1, undefined],
    [999, undefined, 999, undefined],
    [1000, undefined, 1000, undefined],
    [1001, undefined, 1000, 1],
    [524_000, undefined, 1000, 523_000],
    [3, 3, 3, undefined],
    [4, 3, 3, 1],
    [5000, 5000, 5000, undefined],
    [5001, 5000, 5000, 1],
  ])("for %i problems, with maxProblems %s, lists %i, and %s more", async (count, maxProblems, listed, more) => {
    const told = await ask(wrong(count), maxProblems === undefined ? {} : { maxProblems });
    expect(Object.keys(told)).toEqual(["error", "message", "problems", ...(more === undefined ? [] : ["more"])]);
    expect(told.problems).toHaveLength(listed);
    expect(told.problems.at(-1)?.at).toBe(`body[${listed - 1}]`);
    expect(told.more).toBe(more);
  });

  it("lists as many for the next request, and for another one at the same time", async () => {
    const app = Test.app([listed], { maxProblems: 3 });
    const told = async (count: number) => {
      const { json } = await Test.call(app, "POST", "/listed", {
        body: wrong(count),
        headers: { "content-type": "application/json" },
      });
      const { problems, more } = json() as Told;
      return [problems.length, more];
    };
    for (let round = 0; round < 3; round++) {
      expect(await Promise.all([told(5), told(3), told(4)])).toEqual([
        [3, 2],
        [3, undefined],
        [3, 1],
      ]);
      expect(await told(1)).toEqual([1, undefined]);
    }
  });

  it("is no longer than a body, however its members are named", async () => {
    const name = "n".repeat(100_000);
    const records = post(
      Path.of("listed"),
      { inputs: { body: json(v.record(v.string(), shape)) }, returns: Returns.text },
      () => "",
    );
    const told = await ask(`{"${name}":${wrong(2000)}}`, {}, records);
    expect(told.problems).toHaveLength(11);
    expect(told.more).toBe(1989);
  });
});

describe("an answer with many problems: counts", () => {
  it("counts the problems in the shapes of a union", async () => {
    const union = v.union([v.object({ kind: v.number(), list: shape }), v.number()]);
    const unions = post(Path.of("listed"), { inputs: { body: json(v.array(union)) }, returns: Returns.text }, () => "");
    const item = `{"kind":1,"list":${wrong(3)}}`;
    const told = await ask(`[${Array<string>(400).fill(item).join(",")}]`, {}, unions);
    expect([told.problems.length, told.more]).toEqual([1000, 200]);
  });

  it("counts the problems of an application's own check, and those next to it", async () => {
    const problem = (at: string): Problem => Dep.problem({ at, code: "odd", message: "This is odd." });
    const many = Dep.ofRequest(() => Dep.problems(Array.from({ length: 1500 }, (_, i) => problem(`query.q${i}`))));
    const route = post(
      Path.of("listed"),
      { inputs: { page: Query.required("page", Codec.int), many }, returns: Returns.text },
      () => "",
    );
    const told = await ask("", {}, route);
    expect([told.problems[0]?.at, told.problems.length, told.more]).toEqual(["query.page", 1000, 501]);
  });

  it.each(["returned", "thrown"])("counts the problems that a handler reports: %s", async (how) => {
    const refusal = () =>
      Dep.problems([1, 2, 3].map((n) => Dep.problem({ at: `body[${n}]`, code: "odd", message: "Odd." })));
    const route = post(Path.of("listed"), { returns: Returns.text }, () => {
      if (how === "returned") return refusal();
      throw refusal();
    });
    const told = await ask("", { maxProblems: 2 }, route);
    expect([told.problems.length, told.more]).toEqual([2, 1]);
  });

  it("a refusal of another kind has no count", async () => {
    const route = post(Path.of("listed"), { returns: Returns.text, refuses: [unfit] }, () => refuse(unfit, "No."));
    const { body } = await Test.call(Test.app([route]), "POST", "/listed");
    expect(body).toBe('{"error":"unfit","message":"No."}');
  });
});

describe("a log line", () => {
  const detailOf = async (body: string): Promise<string> => {
    await ask(body, {}, logged);
    const texts = lines().flatMap((line) => Object.values(line).filter((value) => String(value).includes("body[")));
    expect(texts).toHaveLength(1);
    return String(texts[0]);
  };

  it.each([
    [100, undefined],
    [101, 1],
    [524_000, 523_900],
  ])("for %i problems lists 100, and counts %s more", async (count, more) => {
    const detail = await detailOf(wrong(count));
    expect(detail.split("; body[")).toHaveLength(100);
    expect(detail.endsWith(more === undefined ? "(unexpected_type)" : `; and ${more} more`)).toBe(true);
    expect(detail.length).toBeLessThan(10_000);
  });

  it("is short although the names in a body are long", async () => {
    const records = json(v.record(v.string(), v.string()), { refusal: [unfit, "No."] });
    const route = post(Path.of("logged"), { inputs: { records }, returns: Returns.text }, () => "");
    const names = Array.from({ length: 200 }, (_, i) => `"${String(i).padEnd(5000, "x")}":1`);
    await Test.call(Test.app([route]), "POST", "/logged", {
      body: `{${names.join(",")}}`,
      headers: { "content-type": "application/json" },
    });
    expect(Math.max(...lines().map((line) => JSON.stringify(line).length))).toBeLessThan(20_000);
  });
});

it("a WebSocket's handler gets no more problems of a message than a log line has", async () => {
  const protocol = Socket.protocol({ client: Socket.json(shape), server: Socket.text });
  const ends: unknown[] = [];
  const route = get(Path.root, { returns: Returns.websocket(protocol) }, () => async (socket) => {
    ends.push(await socket.receive());
  });
  const raw = Socket.protocol({ client: Socket.text, server: Socket.text });
  await Test.websocket(Test.app([route]), raw, "/", async (socket) => {
    await socket.send(wrong(500));
    await socket.receive();
  });
  const [end] = ends as [{ readonly error: { readonly detail: string } }];
  expect(end.error.detail.split("; ")).toHaveLength(101);
  expect(end.error.detail.endsWith("; and 400 more")).toBe(true);
});

it("problems above the limit are counted and not stored", () => {
  const reading = new JsonReading("body", 10);
  const trial = reading.trial();
  for (let i = 0; i < 1000; i++) {
    reading.path[0] = i;
    reading.wrong("odd", "Odd.");
    trial.wrong("odd", "Odd.");
  }
  expect([reading.problems.length, reading.more, reading.count]).toEqual([10, 990, 1000]);
  expect([trial.problems.length, trial.more]).toEqual([10, 990]);
  reading.take(trial);
  expect([reading.problems.length, reading.more, reading.count]).toEqual([10, 1990, 2000]);
});

it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "1" as unknown as number, 2 ** 60])(
  "maxProblems of %s is refused",
  (maxProblems) => {
    expect(() => App.make([], { maxProblems })).toThrow(
      `maxProblems is a whole number, 1 or more, and not ${maxProblems}`,
    );
  },
);
