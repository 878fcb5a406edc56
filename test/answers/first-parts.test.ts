/**
 * Which parts of a `Response` are read before its head is sent. A body that is whole by then has a length, and the head of any other one
 * waits for no part.
 */
import { describe, expect, it } from "vitest";
import { Answer, App, Path, Returns, get } from "usher-http";
import { eventually } from "../support/eventually.ts";
import { gate } from "../support/gate.ts";

const encoder = new TextEncoder();

/** The answer to a route that passes on these parts. */
async function answerOf(parts: AsyncIterable<unknown>, headers: { readonly [name: string]: string } = {}) {
  const passed = { statusCode: 200, headers, body: parts } as Answer.UndiciResponse;
  const app = App.make([get(Path.root, { returns: Returns.response }, () => Answer.pass(passed))]);
  return app.fetch(new Request("http://localhost/"));
}

/** Other work that is done by promises, and waits for no event. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await Promise.resolve();
}

async function* texts(count: number, between: () => Promise<void>): AsyncGenerator<Uint8Array, void> {
  for (let made = 0; made < count; made++) {
    await between();
    yield encoder.encode("x");
  }
}

describe("a body without a length", () => {
  it.each([
    ["one part", 1, 0],
    ["no part", 0, 0],
    ["ten parts, each some promises after the one before", 10, 4],
  ])("of %s is whole, and has one", async (_, count, promises) => {
    const answer = await answerOf(texts(count, () => turns(promises)));
    expect([answer.headers.get("content-length"), await answer.text()]).toEqual([`${count}`, "x".repeat(count)]);
  });

  it("whose second part comes later has none, and its first part is sent before", async () => {
    const later = gate();
    let isFirst = true;
    const answer = await answerOf(
      texts(2, async () => {
        if (!isFirst) await later.passed;
        isFirst = false;
      }),
    );
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    expect([answer.headers.get("content-length"), (await reader.read()).value]).toEqual([null, encoder.encode("x")]);
    later.open();
    expect([(await reader.read()).value, (await reader.read()).done]).toEqual([encoder.encode("x"), true]);
  });

  it("whose parts never end is not held in memory: two of 64 KiB go out at once", async () => {
    let made = 0;
    async function* endless(): AsyncGenerator<Uint8Array, void> {
      for (;;) {
        made++;
        yield new Uint8Array(65_536);
      }
    }
    const { body } = await answerOf(endless());
    expect(made).toBeLessThan(10);
    await body?.cancel();
  });
});

describe("a body with a length, all bytes of which are there", () => {
  const headers = { "content-length": "5" };

  /** Gives `hello` at once, and whatever comes after it when the test says so. */
  function hello() {
    const after = gate<IteratorResult<Uint8Array, undefined>>();
    const seen = { isClosed: false, reads: 0 };
    const iterator: AsyncIterator<Uint8Array, undefined> = {
      next: async () => (seen.reads++ === 0 ? { done: false, value: encoder.encode("hello") } : after.passed),
      return: async () => {
        seen.isClosed = true;
        return { done: true, value: undefined };
      },
    };
    return { after, seen, parts: { [Symbol.asyncIterator]: () => iterator } };
  }

  it("is sent before its end comes, which closes nothing", async () => {
    const { after, seen, parts } = hello();
    const answer = await answerOf(parts, headers);
    expect([answer.headers.get("content-length"), await answer.text()]).toEqual(["5", "hello"]);
    after.open({ done: true, value: undefined });
    await turns(10);
    expect(seen).toEqual({ isClosed: false, reads: 2 });
  });

  it("is closed where one part more comes in place of its end", async () => {
    const { after, seen, parts } = hello();
    expect(await (await answerOf(parts, headers)).text()).toBe("hello");
    after.open({ done: false, value: encoder.encode("!") });
    await eventually(() => expect(seen.isClosed).toBe(true));
  });

  it("is sent where its end is an error", async () => {
    const { after, parts } = hello();
    const answer = await answerOf(parts, headers);
    after.open(Promise.reject(new Error("reset")) as never);
    expect(await answer.text()).toBe("hello");
  });

  it("is sent in parts where they are long, with its length", async () => {
    async function* long(): AsyncGenerator<Uint8Array, void> {
      yield new Uint8Array(40_000);
      yield new Uint8Array(40_000);
    }
    const answer = await answerOf(long(), { "content-length": "80000" });
    expect([answer.headers.get("content-length"), (await answer.bytes()).length]).toEqual(["80000", 80_000]);
  });
});
