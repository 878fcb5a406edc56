/** Which requests run in an AsyncLocalStorage context for their deadline: up to Node 22 the first context slows every promise. */
import { AsyncLocalStorage } from "node:async_hooks";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  Alarm,
  Answer,
  App,
  Background,
  Deadline,
  Dep,
  Event,
  Log,
  Meta,
  Path,
  Returns,
  Test,
  after,
  get,
} from "usher-http";
import { ambient } from "../../src/ambient.ts";
import { gate } from "../support/gate.ts";
import "../support/logs.ts";

const returns = Returns.text;
const own = Meta.empty.add(Meta.deadline, Deadline.make(60_000));

/** What the running code reads: whether it has a deadline. */
const seen = (): string => (ambient.deadline?.() === undefined ? "none" : "a deadline");
const later = async (): Promise<string> => {
  await Promise.resolve();
  return seen();
};
const free = get(Path.of("free"), { returns }, later);
const bound = get(Path.of("bound"), { returns, meta: own }, later);

/** The contexts that are entered while a target is requested. */
async function entered(app: App, target: string): Promise<readonly [answer: string, contexts: number]> {
  const spies = [vi.spyOn(AsyncLocalStorage.prototype, "run"), vi.spyOn(AsyncLocalStorage.prototype, "enterWith")];
  const answer = await (await app.fetch(new Request(`http://h${target}`))).text();
  return [answer, spies.reduce((sum, { mock }) => sum + mock.calls.length, 0)];
}

describe("without log lines, on a route whose code reads the deadline", () => {
  beforeEach(() => {
    Log.setup({ level: undefined });
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each([
    ["a route without a deadline", "/free", {}, ["none", 0]],
    ["a route with a deadline", "/bound", {}, ["a deadline", 1]],
    ["the app's deadline", "/free", { deadline: Deadline.make(60_000) }, ["a deadline", 1]],
  ] as const)("%s enters only the contexts that it needs", async (_what, target, options, expected) => {
    const app = App.make([free, bound], options);
    ambient.use();
    expect(await entered(app, target)).toEqual(expected);
  });

  it("a request without a deadline does not inherit that of the request that makes it", async () => {
    const inner = App.make([free]);
    const outer = get(Path.of("outer"), { returns, meta: own }, async () => {
      const answer = await (await inner.fetch(new Request("http://h/free"))).text();
      return `${answer} inside of ${seen()}`;
    });
    const app = App.make([outer]);
    ambient.use();
    expect(await (await app.fetch(new Request("http://h/outer"))).text()).toBe("none inside of a deadline");
  });
});

describe("a request after its deadline", () => {
  it("has no deadline after the answer", async () => {
    const told: string[] = [];
    const route = get(Path.of("x"), { inputs: { after }, returns, meta: own }, async ({ after }) => {
      after(async () => void told.push(await later()));
      return later();
    });
    expect((await Test.call(Test.app([route]), "GET", "/x")).body).toBe("a deadline");
    expect(told).toEqual(["none"]);
  });

  it("has an expired deadline in a late handler, also if the handler reads it only then", async () => {
    const told = gate<boolean | undefined>();
    const ready = gate();
    const late = get(Path.of("x"), { returns, meta: Meta.empty.add(Meta.deadline, Deadline.make(1)) }, async () => {
      await ready.passed;
      told.open(ambient.deadline?.()?.aborted);
      return "late";
    });
    expect((await App.make([late]).fetch(new Request("http://h/x"))).status).toBe(503);
    ready.open();
    expect(await told.passed).toBe(true);
  });
});

describe("work that no answer waits for has no deadline", () => {
  it("background work and alarms of a request that timed out", async () => {
    const told: string[] = [];
    const ready = gate();
    const background = Background.create();
    const alarm = Alarm.create({ background, what: "the alarm" });
    const late = get(Path.of("x"), { returns, meta: Meta.empty.add(Meta.deadline, Deadline.make(20)) }, async () => {
      background.start("the work", async () => {
        told.push(`at its start: ${seen()}`);
        await ready.passed;
        told.push(`later: ${seen()}`);
      });
      alarm.set("a", 40, () => void told.push(`the alarm: ${seen()}`));
      return new Promise<string>(() => {});
    });
    expect((await App.make([late]).fetch(new Request("http://h/x"))).status).toBe(503);
    while (alarm.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    ready.open();
    await background.settled(60_000);
    expect(told.toSorted()).toEqual(["at its start: none", "later: none", "the alarm: none"]);
  });

  it("a stream that continues after the answer of a route with a deadline", async () => {
    async function* parts() {
      for (let part = 0; part < 3; part++) yield Buffer.from(`${await later()}\n`);
    }
    const inputs = { bound: Dep.ofRequest(later) };
    const route = get(Path.of("x"), { inputs, returns: Returns.response, meta: own }, ({ bound }) =>
      Answer.stream(parts(), { headers: [["handler", bound]] }),
    );
    const { headers, body } = await Test.call(Test.app([route]), "GET", "/x");
    expect([headers.get("handler"), body]).toEqual(["a deadline", "none\nnone\nnone\n"]);
  });

  it("a task of `after`, next to the stream of a route with a deadline", async () => {
    const told: string[] = [];
    const done = gate();
    const Word = Event.text("word");
    const route = get(Path.of("x"), { inputs: { after }, returns: Returns.events([Word]), meta: own }, ({ after }) => {
      after(async () => {
        told.push(await later());
        done.open();
      });
      return async (send) => {
        await done.passed;
        told.push(await later());
        await send(Event.make(Word, "end"));
      };
    });
    await Test.events(Test.app([route]), "/x", () => {});
    expect(told).toEqual(["none", "a deadline"]);
  });
});
