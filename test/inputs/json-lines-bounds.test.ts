/** JSON lines that are read as they arrive: limits and concurrent readers (rows JL). */
import { createHook } from "node:async_hooks";
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { App, Body, Codec, Header, Path, Returns, jsonLines, post } from "usher-http";
import type { BodyFailure, InvalidLine } from "usher-http";
import { gate } from "../support/gate.ts";
import { logged, messages } from "../support/logs.ts";
import { Any, bytes, listed, noted, requestOf, sent, type } from "./lines.ts";

it("blank lines take no promise each: a part of nothing else would hold up all other requests", async () => {
  let promises = 0;
  const hook = createHook({ init: (_id, type) => void (type === "PROMISE" && promises++) }).enable();
  const answered = await sent(listed(Any), `${"\n".repeat(5000)}1`);
  hook.disable();
  expect(answered).toEqual([200, "[1]"]);
  expect(promises).toBeLessThan(1000);
});

describe("JSON lines: limits", () => {
  it.each<[maxLine: number, length: number, end: string, expected: readonly unknown[] | undefined]>([
    [10, 10, "\n", [1]],
    [10, 11, "\n", undefined],
    [10, 20, "\n", undefined],
    [10, 10, "", [1]],
    [10, 11, "", undefined],
    // Its CR counts as part of the line.
    [10, 9, "\r\n", [1]],
    [10, 10, "\r\n", undefined],
  ])("JL-40 a line of at most %d bytes: %d and %j", async (maxLine, length, end, expected) => {
    const body = "1".padStart(length) + end;
    const parts = [bytes(body), ...[...body].map(bytes)];
    for (const parted of [[parts[0] as Uint8Array], parts.slice(1)]) {
      const answer = await App.make([listed(Any, { maxLine })]).fetch(requestOf(parted));
      const text = await answer.text();
      if (expected === undefined) expect([answer.status, JSON.parse(text).error]).toEqual([413, "too_large"]);
      else expect([answer.status, text]).toEqual([200, JSON.stringify(expected)]);
    }
  });

  it("JL-41 a body above its limit is a 413, whatever it contains", async () => {
    expect((await sent(listed(Any, { max: 10 }), "\n".repeat(10)))[0]).toBe(200);
    expect((await sent(listed(Any, { max: 10 }), "\n".repeat(11)))[0]).toBe(413);
    const half = [bytes("1\n2\n3\n"), bytes("4\n5\n6\n")];
    expect((await App.make([listed(Any, { max: 11 })]).fetch(requestOf(half))).status).toBe(413);
  });

  it("JL-42 every read fails after the body failed", async () => {
    const seen: unknown[] = [];
    const route = post(
      Path.of("lines"),
      { inputs: { values: jsonLines(Any, { max: 1000, maxLine: 4 }) }, returns: Returns.empty() },
      async ({ values }) => {
        for (let i = 0; i < 4; i++) {
          const read = await values.read();
          seen.push(read.ok ? read.value : read.error.kind);
        }
      },
    );
    await sent(route, "1\n22222\n3\n");
    expect(seen).toEqual([1, "too_large", "too_large", "too_large"]);
  });

  it("JL-43 an incomplete line holds bytes of the budget, and gives them back", async () => {
    const begun = bytes(`"${"x".repeat(40_000)}`);
    const route = listed(Any, { maxLine: 100_000 });
    const app = App.make([route], { bodyBudget: 150_000 });
    for (let i = 0; i < 5; i++) {
      const answer = await app.fetch(requestOf([begun, bytes('"\n'), begun, bytes('"\n')]));
      expect(answer.status).toBe(200);
    }
    const small = App.make([route], { bodyBudget: 60_000 });
    for (let i = 0; i < 3; i++) {
      const answer = await small.fetch(requestOf([begun, begun.subarray(1), bytes('"\n')]));
      expect([answer.status, (JSON.parse(await answer.text()) as { error: string }).error]).toEqual([503, "busy"]);
    }
    // It holds no bytes any more.
    expect((await small.fetch(requestOf([bytes("1\n")]))).status).toBe(200);
  });

  it("JL-44 a body that breaks off inside a line is unreadable, and that line is not read", async () => {
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (pulls++ === 0) controller.enqueue(bytes("1\n2"));
        else controller.error(new Error("gone"));
      },
    });
    const init = { method: "POST", body, headers: type, duplex: "half" } as RequestInit;
    const answer = await App.make([noted(Any)]).fetch(new Request("http://localhost/lines", init));
    expect(await answer.json()).toEqual([1, "unreadable"]);
  });
});

const cut = { kind: "unreadable", detail: "the request was answered before its body was read" };

describe("JSON lines: readers", () => {
  it("JL-50 have one reader at a time, for any number of pending reads", async () => {
    const route = post(
      Path.of("lines"),
      { inputs: { values: jsonLines(Any, { max: 100 }) }, returns: Returns.json(Any) },
      async ({ values }) => {
        const reads = await Promise.all([values.read(), values.read(), values.read(), values.read()]);
        return reads.map((read) => (read.ok ? (read.value ?? "end") : "failed"));
      },
    );
    const answer = await App.make([route]).fetch(requestOf([bytes("1\n"), bytes("2")]));
    expect(await answer.json()).toEqual([1, 2, "end", "end"]);
  });

  it("JL-51 fail when they are read after the request is answered, also in the middle of a chunk", async () => {
    let late: Promise<unknown> | undefined;
    const route = post(
      Path.of("lines"),
      { inputs: { values: jsonLines(Any, { max: 100 }) }, returns: Returns.text },
      async ({ values }) => {
        await values.read();
        late = new Promise((resolve) => setTimeout(() => resolve(values.read()), 0));
        return "answered";
      },
    );
    expect(await sent(route, "1\n2\n3\n")).toEqual([200, "answered"]);
    expect(await late).toEqual({ ok: false, error: cut });
    expect(messages("warn")).toEqual([
      "/lines read its body, the input values, after its answer had gone, which failed: await each read before the handler returns",
    ]);
  });

  it("JL-52 fail a pending read when the request is answered, without the incomplete line", async () => {
    const pulled = gate();
    let waiting: Promise<unknown> | undefined;
    const route = post(
      Path.of("lines"),
      { inputs: { values: jsonLines(Any, { max: 100 }) }, returns: Returns.text },
      async ({ values }) => {
        waiting = values.read();
        await pulled.passed;
        return "answered";
      },
    );
    let pulls = 0;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      if (pulls++ === 0) return controller.enqueue(bytes("12"));
      pulled.open();
      return new Promise<void>(() => {});
    };
    const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
    const init = { method: "POST", body, headers: type, duplex: "half" } as RequestInit;
    const answer = await App.make([route]).fetch(new Request("http://localhost/lines", init));
    expect(await answer.text()).toBe("answered");
    expect(await waiting).toEqual({ ok: false, error: cut });
  });
});

describe("JSON lines: handlers", () => {
  it("JL-53 are not read if an earlier input is invalid", async () => {
    const route = post(
      Path.of("lines"),
      {
        inputs: { values: jsonLines(Any, { max: 4 }), count: Header.required("x-count", Codec.int) },
        returns: Returns.text,
      },
      () => "ran",
    );
    expect((await sent(route, "12345\n"))[0]).toBe(400);
  });

  it("JL-54 an iteration that was left early is continued by the next one", async () => {
    const route = post(
      Path.of("lines"),
      { inputs: { values: jsonLines(v.number(), { max: 100 }) }, returns: Returns.json(Any) },
      async ({ values }) => {
        let head = 0;
        for await (const value of values) {
          head = value;
          break;
        }
        const rest: number[] = [];
        for await (const value of values) rest.push(value);
        return { head, rest };
      },
    );
    expect(await sent(route, "1\n2\n3\n")).toEqual([200, '{"head":1,"rest":[2,3]}']);
  });

  it("JL-55 a function of the shape that throws is a 500, and the next read still works", async () => {
    const seen: unknown[] = [];
    const shape = v.pipe(
      v.number(),
      v.check((value) => {
        if (value === 2) throw new Error("s3cret");
        return true;
      }),
    );
    const route = post(
      Path.of("lines"),
      { inputs: { values: jsonLines(shape, { max: 100 }) }, returns: Returns.empty() },
      async ({ values }) => {
        for (let i = 0; i < 3; i++) seen.push(await values.read().catch(() => "raised"));
        for await (const value of values) seen.push(value);
      },
    );
    await sent(route, "1\n2\n3\n");
    expect(seen).toEqual([{ ok: true, value: 1 }, "raised", { ok: true, value: 3 }]);
    expect((await sent(listed(shape), "1\n2\n"))[0]).toBe(500);
    expect(logged().join()).not.toContain("s3cret");
  });
});

it("JL-56 a shape that returns undefined for a line is a bug, and does not end the lines", async () => {
  const nothing = v.pipe(
    v.number(),
    v.transform(() => undefined),
  );
  expect((await sent(listed(nothing), "1\n2\n"))[0]).toBe(500);
  expect(messages("error").join()).toContain("POST /lines");
});

it("JL-60 the lines are the same however the bytes are cut", async () => {
  const route = listed(Any);
  const app = App.make([route]);
  // Members with these names are dropped, as Valibot drops them.
  const isKept = (values: readonly unknown[]): boolean =>
    !/"(?:__proto__|constructor|prototype)"/.test(JSON.stringify(values));
  const values = fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 6 }).filter(isKept);
  const ends = fc.constantFrom("\n", "\r\n", "\n\n", "\n \n");
  await fc.assert(
    fc.asyncProperty(
      values,
      ends,
      fc.boolean(),
      fc.array(fc.nat(), { maxLength: 12 }),
      async (values, end, last, cuts) => {
        const text = values.map((value) => JSON.stringify(value)).join(end) + (last ? end : "");
        const whole = bytes(text);
        const places = cuts.map((cut) => cut % (whole.length + 1)).toSorted((a, b) => a - b);
        const parts = [0, ...places].map((from, i) => whole.subarray(from, places[i] ?? whole.length));
        const answer = await app.fetch(requestOf(parts));
        expect([answer.status, await answer.json()]).toEqual([200, JSON.parse(JSON.stringify(values))]);
      },
    ),
    { numRuns: 150 },
  );
});

it("JL-61 the failures have the two types that a handler gets", () => {
  const failures: readonly (BodyFailure | InvalidLine)["kind"][] = ["invalid", "too_large", "unreadable", "busy"];
  expect(
    failures.map(
      (kind) => Body.refusal({ kind, detail: "", line: 1, problems: [], more: 0 } as InvalidLine).code.status,
    ),
  ).toEqual([400, 413, 400, 503]);
});

it.each([
  [{ max: -1 }, "reads a body of at most -1 bytes, which is not a number of bytes"],
  [{ max: 1.5 }, "reads a body of at most 1.5 bytes, which is not a number of bytes"],
  [{ max: 1, maxLine: 0 }, "reads lines of at most 0 bytes, which is not a number of bytes"],
  [{ max: 1, maxLine: "1" as never }, 'reads lines of at most "1" bytes, which is not a number of bytes'],
])("JL-62 App.make refuses the limits %j", (options, sentence) => {
  expect(() => App.make([listed(Any, options)])).toThrow(`POST /lines ${sentence}`);
});
