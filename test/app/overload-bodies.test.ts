/** Bodies that are read as they arrive: while a handler waits for its client, others have its place of `maxInFlight`. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { App, Deadline, Overload, Path, Returns, bodyStream, get, jsonLines, multipart, post } from "usher-http";
import type { Route } from "usher-http";
import * as v from "valibot";
import { settle } from "../support/clock.ts";
import { gate } from "../support/gate.ts";

const text = { returns: Returns.text };
const at = Path.of("x");
const plain = get(Path.of("plain"), text, () => "plain");
afterEach(() => void vi.useRealTimers());

async function countParts(parts: AsyncIterable<unknown>): Promise<string> {
  let count = 0;
  for await (const part of parts) if (part !== undefined) count++;
  return String(count);
}

const readers: readonly (readonly [what: string, route: Route, type: string, begin: string, end: string])[] = [
  [
    "a stream",
    post(at, { inputs: { sent: bodyStream({ max: 1e6 }) }, ...text }, ({ sent }) => countParts(sent)),
    "application/octet-stream",
    "a",
    "b",
  ],
  [
    "JSON lines",
    post(at, { inputs: { sent: jsonLines(v.number(), { max: 1e6 }) }, ...text }, ({ sent }) => countParts(sent)),
    "application/jsonl",
    "1\n2",
    "\n",
  ],
  [
    "a multipart form",
    post(at, { inputs: { sent: multipart({ max: 1e6 }) }, ...text }, ({ sent }) => countParts(sent)),
    "multipart/form-data; boundary=b",
    '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--b\r\ncontent-disposition: form-data; name="c"\r\n\r\n',
    "\r\n--b--\r\n",
  ],
];

/** A request whose body is sent in parts. */
function upload(app: App, type = "application/octet-stream") {
  let sending!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({ start: (controller) => void (sending = controller) });
  const request: RequestInit = { method: "POST", body, duplex: "half", headers: { "content-type": type } };
  const answer = app.fetch(new Request("http://h/x", request));
  return {
    answer,
    send: (part: string) => sending.enqueue(new TextEncoder().encode(part)),
    end: () => sending.close(),
  };
}

const askPlain = (app: App) => app.fetch(new Request("http://h/plain"));

describe("a handler that waits for the next part of its body", () => {
  it.each(readers)("of %s holds no place, and answers although all places are taken", async (...row) => {
    const [, route, type, begin, end] = row;
    const held = gate<string>();
    const app = App.make([route, plain, get(Path.of("held"), text, () => held.passed)], {
      overload: Overload.make({ maxInFlight: 2 }),
    });
    const uploads: ReturnType<typeof upload>[] = [];
    for (let begun = 0; begun < 10; begun++) {
      const one = upload(app, type);
      uploads.push(one);
      one.send(begin);
      await turns();
    }
    expect((await askPlain(app)).status).toBe(200);
    const holding = [1, 2].map(() => app.fetch(new Request("http://h/held")));
    for (const { send, end: close } of uploads) {
      send(end);
      close();
    }
    await settle();
    expect((await askPlain(app)).status).toBe(503);
    held.open("x");
    expect(await Promise.all(uploads.map(async ({ answer }) => (await answer).text()))).toEqual(Array(10).fill("2"));
    expect((await Promise.all(holding)).map(({ status }) => status)).toEqual([200, 200]);
    app.drain();
  });

  it("continues after a second at which no place was given back: others may wait for what it holds", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const lock = gate<string>();
    const locking = post(at, { inputs: { sent: bodyStream({ max: 9 }) }, ...text }, async ({ sent }) => {
      const parts = await countParts(sent);
      lock.open("unlocked");
      return parts;
    });
    const app = App.make([locking, get(Path.of("plain"), text, () => lock.passed)], {
      overload: Overload.make({ maxInFlight: 1 }),
    });
    const { answer, send, end } = upload(app);
    send("a");
    await turns();
    const waiting = askPlain(app);
    end();
    await turns();
    vi.advanceTimersByTime(999);
    await turns();
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1);
    expect([await (await answer).text(), await (await waiting).text()]).toEqual(["1", "unlocked"]);
    expect([vi.getTimerCount(), (await askPlain(app)).status]).toEqual([0, 200]);
  });

  it("that is answered at its deadline while it waits for a place leaves the queue, and its read fails", async () => {
    const held = gate<string>();
    const seen: unknown[] = [];
    const reading = post(at, { inputs: { sent: bodyStream({ max: 9 }) }, ...text }, async ({ sent }) => {
      seen.push(await sent.read());
      return "read";
    });
    const app = App.make([reading, get(Path.of("plain"), text, () => held.passed)], {
      overload: Overload.make({ maxInFlight: 1 }),
      deadline: Deadline.make(60),
    });
    const { answer, send } = upload(app);
    await settle();
    const holding = askPlain(app);
    send("a");
    expect([(await answer).status, (await holding).status]).toEqual([503, 503]);
    await settle();
    expect(seen).toEqual([{ ok: false, error: expect.objectContaining({ kind: "unreadable" }) }]);
    held.open("x");
    expect((await askPlain(app)).status).toBe(200);
  });
});

async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
}
