/** Idempotency keys of answers whose body is a stream. */
import { setImmediate as turnOfLoop } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { Answer, App, Dep, Idempotency, Path, Refusal, Returns, Test, post, refuse } from "usher-http";
import type { IdempotencyStore, Middleware } from "usher-http";
import { Compress } from "usher-http/compress";
import { messages } from "../support/logs.ts";

const soldOut = Refusal.code("sold_out", { status: 409, doc: "None is left." });
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** A stream that throws after its first chunk. */
async function* failing(raised: unknown): AsyncGenerator<Uint8Array> {
  yield bytesOf("first ");
  throw raised;
}

async function* whole(): AsyncGenerator<Uint8Array> {
  yield bytesOf("first ");
  yield bytesOf("second");
}

/** The calls of the store, in order. */
function noting(calls: string[], isTransaction: boolean): IdempotencyStore {
  const memory = Idempotency.memory();
  return {
    isTransaction,
    claim: (...given) => memory.claim(...given),
    extend: (...given) => memory.extend(...given),
    keep: (...given) => (calls.push("keep"), memory.keep(...given)),
    free: (...given) => (calls.push("free"), memory.free(...given)),
  };
}

interface Given {
  readonly isTransaction: boolean;
  /** An input that commits, or throws instead. */
  readonly commit?: () => void;
  readonly maxAnswer?: number;
}

/** A route whose first answer is one stream, and each later answer another. */
function streaming(first: () => Answer, { isTransaction, commit = () => {}, maxAnswer = 1000 }: Given) {
  const calls: string[] = [];
  let done = 0;
  const once = Idempotency.by(noting(calls, isTransaction), { caller: Dep.return("everybody"), maxAnswer });
  const unit = Dep.scoped(
    {},
    () => "unit",
    () => {},
    {
      beforeAnswer: (_unit, refused, hasFailed) => {
        calls.push(refused === undefined && !hasFailed ? "commit" : "roll back");
        commit();
      },
    },
  );
  const route = post(Path.root, { inputs: { unit, once }, returns: Returns.response, refuses: [soldOut] }, () =>
    done++ === 0 ? first() : Answer.stream(whole()),
  );
  const app = Test.app([route]);
  const ask = async () => {
    const { status, body } = await Test.call(app, "POST", "/", { headers: { "idempotency-key": '"key"' } });
    return status === 200 ? body : status;
  };
  return { ask, calls };
}

describe.each([
  ["a store of its own", false],
  ["a store in the handler's transaction", true],
])("a stream with an idempotency key, with %s", (_which, isTransaction) => {
  it("that throws is a 500 whose log line names the handler, and the key is free again", async () => {
    const { ask, calls } = streaming(() => Answer.stream(failing(new RangeError("s3cret"))), { isTransaction });
    expect(await ask()).toBe(500);
    expect(calls.toSorted()).toEqual(["free", "roll back"]);
    expect(messages("error")).toEqual(["POST /: internal: it raised"]);
    expect([await ask(), await ask()]).toEqual(["first second", "first second"]);
  });

  it.each([5, 50])("that does not have its length %i is a 500, and the key is free again", async (length) => {
    const { ask, calls } = streaming(() => Answer.stream(whole(), { length }), { isTransaction });
    expect(await ask()).toBe(500);
    expect(calls.toSorted()).toEqual(["free", "roll back"]);
    expect(await ask()).toBe("first second");
  });

  it("that is too long to be kept must still have its length", async () => {
    const { ask } = streaming(() => Answer.stream(whole(), { length: 50 }), { isTransaction, maxAnswer: 4 });
    await expect(ask()).rejects.toThrow("its stream sent less than the length it was given");
  });

  it("that throws a refusal is answered with it, and the refusal is kept", async () => {
    const refused = refuse(soldOut);
    const { ask, calls } = streaming(() => Answer.stream(failing(refused)), { isTransaction });
    expect([await ask(), await ask()]).toEqual([409, 409]);
    expect(calls.slice(0, 2).toSorted()).toEqual(["keep", "roll back"]);
  });

  it("that is too long is cancelled when its transaction does not commit", async () => {
    const cancelled = vi.fn<() => void>();
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(bytesOf("three")),
      cancel: cancelled,
    });
    const commit = () => {
      throw new Error("no commit");
    };
    const { ask } = streaming(() => Answer.stream(endless), { isTransaction, commit, maxAnswer: 4 });
    expect(await ask()).toBe(500);
    expect(cancelled).toHaveBeenCalledOnce();
  });
});

/** The reader of a response whose stream is longer than what is kept, and gives no second part. */
async function readerOfLong(cancelled: () => void, middleware: readonly Middleware[]) {
  let parts = 0;
  const silent = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => (parts++ === 0 ? controller.enqueue(bytesOf("three")) : new Promise(() => {})),
      cancel: cancelled,
    },
    { highWaterMark: 0 },
  );
  const once = Idempotency.by(Idempotency.memory(), { caller: Dep.return("everybody"), maxAnswer: 4 });
  const route = post(Path.root, { inputs: { once }, returns: Returns.response }, () =>
    Answer.stream(silent, { contentType: "text/plain" }),
  );
  const headers = { "idempotency-key": '"key"', "accept-encoding": "gzip" };
  const request = new Request("http://localhost/", { method: "POST", headers });
  const { body } = await App.make([route], { middleware }).fetch(request);
  return (body as ReadableStream<Uint8Array>).getReader();
}

describe.each([
  ["as it is", [], 1],
  // The first part that is sent is the header of gzip.
  ["compressed", [Compress.make()], 2],
])("a stream that is too long to be kept, %s, is cancelled where its client leaves", (_how, middleware, before) => {
  it("before anything of it is sent", async () => {
    const cancelled = vi.fn<() => void>();
    const reader = await readerOfLong(cancelled, middleware);
    await reader.cancel();
    expect(cancelled).toHaveBeenCalledOnce();
  });

  it("while its next part is awaited", async () => {
    const cancelled = vi.fn<() => void>();
    const reader = await readerOfLong(cancelled, middleware);
    for (let i = 0; i < before; i++) await reader.read();
    const pending = reader.read();
    await turnOfLoop();
    await reader.cancel();
    expect((await pending).done).toBe(true);
    expect(cancelled).toHaveBeenCalledOnce();
  });
});
