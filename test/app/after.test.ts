/** `after`: tasks that run once the response has been sent. */
import { describe, expect, it } from "vitest";
import { Answer, App, Log, Path, Refusal, Returns, Test, after, get, refuse } from "usher-http";
import type { AppOptions, FailedRequest } from "usher-http";
import { gate } from "../support/gate.ts";
import { lines } from "../support/logs.ts";

const text = { inputs: { after }, returns: Returns.text };
const soldOut = Refusal.code("sold_out", { status: 409, doc: "None is left." });
const program = Log.source("program");

describe("a task of `after`", () => {
  it("runs after the response, in the order of the calls, also when an earlier task fails", async () => {
    const told: string[] = [];
    const held = gate();
    const route = get(Path.of("x"), text, ({ after }) => {
      after(async () => {
        told.push("first");
        await held.passed;
        told.push("first ends");
      });
      after(() => told.push("second"));
      told.push("handled");
      return "x";
    });
    const { fetch } = App.make([route]);
    expect(await (await fetch(new Request("http://h/x"))).text()).toBe("x");
    await expect.poll(() => told).toEqual(["handled", "first", "second"]);
    held.open();
    await expect.poll(() => told).toEqual(["handled", "first", "second", "first ends"]);
  });

  it("ends before Test.call resolves", async () => {
    let done = false;
    const route = get(Path.of("x"), text, ({ after }) => {
      after(async () => {
        await new Promise((resolve) => {
          setTimeout(resolve, 5);
        });
        done = true;
      });
      return "x";
    });
    await Test.call(Test.app([route]), "GET", "/x");
    expect(done).toBe(true);
  });

  it.each([
    ["a refusal", () => refuse(soldOut), 409],
    [
      "an exception",
      () => {
        throw new Error("s3cret");
      },
      500,
    ],
  ] as const)("is dropped with %s, unless it is added as one that always runs", async (_what, end, status) => {
    const told: string[] = [];
    const route = get(Path.of("x"), { ...text, refuses: [soldOut] }, ({ after }) => {
      after(() => told.push("on success"));
      after(() => told.push("always"), { always: true });
      return end();
    });
    expect((await Test.call(Test.app([route]), "GET", "/x")).status).toBe(status);
    expect(told).toEqual(["always"]);
  });
});

describe("a task of `after` that fails, or is added late", () => {
  it("logs with the request's id, and its error is logged once and passed to onError", async () => {
    const failed: FailedRequest[] = [];
    const route = get(Path.of("x"), text, ({ after }) => {
      after(async () => {
        await Promise.resolve();
        program.info("working");
        throw new TypeError("s3cret");
      });
      return "x";
    });
    const { headers } = await Test.call(
      Test.app([route], { onError: (_error, request) => void failed.push(request) }),
      "GET",
      "/x",
    );
    const id = headers.get("x-request-id");
    const own = lines().filter((line) => line["request_id"] === id);
    expect(own.map((line) => [line["level"], line["message"], line["error.kind"]])).toEqual([
      ["info", "GET /x 200", undefined],
      ["info", "working", undefined],
      ["error", "GET /x: its work after the answer raised", "TypeError"],
    ]);
    expect(failed.map(({ id, during }) => [id, during])).toEqual([[id, "after"]]);
    expect(JSON.stringify(own)).not.toContain("s3cret");
  });

  it("runs at once when a stream adds it", async () => {
    const told: string[] = [];
    const route = get(Path.of("x"), { inputs: { after }, returns: Returns.response }, ({ after }) => {
      async function* parts(): AsyncGenerator<Uint8Array> {
        yield new Uint8Array(1);
        after(() => told.push("from the stream"));
      }
      return Answer.stream(parts());
    });
    await Test.call(Test.app([route]), "GET", "/x");
    expect(told).toEqual(["from the stream"]);
  });

  it("does not end the process by its return value", async () => {
    const hostile = [
      () => Promise.reject(undefined),
      // oxlint-disable-next-line unicorn/no-thenable
      () => ({
        then: () => {
          throw new Error("s3cret");
        },
      }),
      // oxlint-disable-next-line unicorn/no-thenable
      () =>
        Object.defineProperty({}, "then", {
          get: () => {
            throw new Error("s3cret");
          },
        }),
      () => {
        throw null;
      },
    ];
    const route = get(Path.of("x"), text, ({ after }) => {
      for (const one of hostile) after(one);
      return "x";
    });
    expect((await Test.call(Test.app([route]), "GET", "/x")).status).toBe(200);
    expect(lines().filter(({ message }) => message === "GET /x: its work after the answer raised")).toHaveLength(4);
  });
});

describe("the bound of maxAfter", () => {
  const options: AppOptions = { maxAfter: 2 };

  it("refuses a task above the limit with 503 busy, and accepts one again when another ends", async () => {
    let held = gate();
    const route = get(Path.of("x"), text, ({ after }) => {
      after(() => held.passed);
      return "x";
    });
    const app = App.make([route], options);
    const ask = async (): Promise<readonly [number, string | null]> => {
      const response = await app.fetch(new Request("http://h/x"));
      return [response.status, response.headers.get("retry-after")];
    };
    for (let round = 0; round < 2; round++) {
      expect([await ask(), await ask(), await ask()]).toEqual([
        [200, null],
        [200, null],
        [503, "1"],
      ]);
      held.open();
      await app.settled(60_000);
      held = gate();
    }
  });

  it("frees the place of a dropped task", async () => {
    const route = get(Path.of("x"), { ...text, refuses: [soldOut] }, ({ after }) => {
      after(() => {});
      return refuse(soldOut);
    });
    const app = Test.app([route], options);
    for (let i = 0; i < 10; i++) expect((await Test.call(app, "GET", "/x")).status).toBe(409);
  });

  it.each([0, -1, 1.5, Number.NaN, "2"])("is a whole number from 1: %s", (maxAfter) => {
    expect(() => App.make([], { maxAfter: maxAfter as number })).toThrow("maxAfter is a whole number, 1 or more");
  });
});

it.each([undefined, null, "task", 1])("App.make or `after` refuses %s as a task", async (task) => {
  const route = get(Path.of("x"), text, ({ after }) => {
    expect(() => after(task as never)).toThrow("after: its task is");
    return "x";
  });
  await Test.call(Test.app([route]), "GET", "/x");
});
