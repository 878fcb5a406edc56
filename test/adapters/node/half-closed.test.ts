/**
 * Clients that half-close (FIN) while a response is pending (issue 4; contract 4.4): a client that still reads gets it, as
 * `nc -N` expects. A client that has gone looks the same, and is noticed within a second if a handler listens or a stream is quiet.
 */
import { describe, expect, it, vi } from "vitest";
import { Answer, Path, Returns, Socket, body, clientGone, get, post } from "usher-http";
import type { Awaitable, Route } from "usher-http";
import { lines, messages } from "../../support/logs.ts";
import { sockets } from "../../support/memory.ts";
import { clientOf, gate, holdClock, start } from "../../support/node-server.ts";
import { RawClient, header, turns } from "../../support/raw-client.ts";
import { eventually } from "../../support/eventually.ts";

const text = (path: string, handler: () => Awaitable<string>): Route =>
  get(Path.of(path), { returns: Returns.text }, handler);
const ok = text("ok", () => "ok");

/** A route whose answer waits, and which reports when its handler runs. */
function held(path: string) {
  const asked = gate();
  const letGo = gate();
  const route = text(path, async () => (asked.open(), await letGo.passed, path));
  return { route, asked: asked.passed, letGo: letGo.open };
}

/** A stream whose chunks a test sends one by one, with a record of its end. */
function fed() {
  const ended = gate();
  const begun = gate();
  const parts: string[] = [];
  let wake = (): void => {};
  async function* make(): AsyncGenerator<Uint8Array> {
    begun.open();
    try {
      for (;;) {
        for (const part of parts.splice(0)) {
          if (part === "") return;
          yield Buffer.from(part);
        }
        await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      ended.open();
    }
  }
  const route = get(Path.of("fed"), { returns: Returns.response }, () => Answer.stream(make()));
  const feed = (part: string): void => {
    parts.push(part);
    wake();
  };
  return { route, begun: begun.passed, ended: ended.passed, feed };
}

/** No time limit closes the connection while a test runs. */
const endless = { sendTimeoutMs: 2 ** 31 - 1, idleTimeoutMs: 2 ** 31 - 1 };

describe("a client that half-closes after its request and still reads: answers", () => {
  it.each(["GET /ok", "GET /later"])("is answered, and then the connection is closed: %s", async (line) => {
    const client = await clientOf([ok, text("later", async () => "ok")], endless);
    client.ask(line).halfClose();
    expect((await client.answer()).body).toBe("ok");
    expect(await client.rest()).toBe("");
  });

  it("is answered however long the handler takes", async () => {
    const { route, asked, letGo } = held("held");
    const { port } = await start([route], endless);
    const client = await RawClient.to(port);
    client.ask("GET /held").halfClose();
    await asked;
    await turns(port);
    letGo();
    expect((await client.answer()).body).toBe("held");
    expect(await client.rest()).toBe("");
  });

  it("gets an answer to each request that it pipelined, in order", async () => {
    const { route, asked, letGo } = held("held");
    const { port } = await start([route, ok, text("later", async () => "later")]);
    const client = await RawClient.to(port);
    client.ask("GET /held").ask("GET /ok").ask("GET /later").halfClose();
    await asked;
    await turns(port);
    letGo();
    const bodies = [];
    for (let i = 0; i < 3; i++) bodies.push((await client.answer()).body);
    expect(bodies).toEqual(["held", "ok", "later"]);
    expect(await client.rest()).toBe("");
  });

  it("is answered when it sent a body", async () => {
    const echo = post(Path.of("echo"), { inputs: { body }, returns: Returns.text }, async ({ body }) => {
      await new Promise((resolve) => setImmediate(resolve));
      return Buffer.from(body).toString();
    });
    const client = await clientOf([echo]);
    client.ask("POST /echo", [], "posted").halfClose();
    expect((await client.answer()).body).toBe("posted");
    expect(await client.rest()).toBe("");
  });
});

describe("a client that half-closes after its request and still reads: long answers", () => {
  it("gets the whole of an answer that is larger than any buffer", async () => {
    const big = Buffer.alloc(8 * 1024 * 1024, 0x78);
    const route = get(Path.of("big"), { returns: Returns.response }, async () => Answer.make(big));
    const client = await clientOf([route]);
    client.ask("GET /big").halfClose();
    expect((await client.answer()).body.length).toBe(big.length);
  });

  it("gets the whole of a stream that sends a chunk from time to time", async () => {
    holdClock();
    const { route, begun, feed } = fed();
    const { port } = await start([route]);
    const client = await RawClient.to(port);
    client.ask("GET /fed").halfClose();
    await begun;
    await turns(port);
    for (let i = 0; i < 20; i++) {
      feed(`${i} `);
      await client.sees(`\r\n${i} \r\n`);
      vi.advanceTimersByTime(450);
    }
    feed("");
    expect((await client.answer()).body).toBe(Array.from({ length: 20 }, (_, i) => `${i} `).join(""));
    expect(messages("info").at(-1)).toBe("stream on /fed ended: finished");
  });
});

describe("a client that half-closes after its request and still reads: the end of its connection", () => {
  it("follows a stream whose head promised to keep the connection", async () => {
    holdClock();
    const { route, feed } = fed();
    const { port } = await start([route], endless);
    const client = await RawClient.to(port);
    client.ask("GET /fed");
    feed("before ");
    await client.sees("before ");
    client.halfClose();
    await turns(port);
    feed("after");
    feed("");
    expect((await client.answer()).body).toBe("before after");
    // Only the end of the stream can close it: the clock is stopped.
    expect(await client.rest()).toBe("");
  });

  // Node itself closes it after other answers, and not after one whose head it is given without a `Connection`.
  it("follows an answer with headers of its own that was made after the half-close", async () => {
    const [asked, letGo] = [gate(), gate()];
    const held = get(Path.of("held"), { returns: Returns.response }, async () => {
      asked.open();
      await letGo.passed;
      return Answer.make("held", { headers: [["x-a", "b"]] });
    });
    const { port } = await start([held], endless);
    const client = await RawClient.to(port);
    client.ask("GET /held").halfClose();
    await asked.passed;
    await turns(port);
    letGo.open();
    expect((await client.answer()).body).toBe("held");
    expect(await client.rest()).toBe("");
  });

  it("is in the answer (Connection: close) when the server stops", async () => {
    const { route, asked, letGo } = held("held");
    const server = await start([route], { drainMs: 600_000 });
    const client = await RawClient.to(server.port);
    client.ask("GET /held").halfClose();
    await asked;
    const stopped = server.stop();
    letGo();
    expect(header(await client.answer(), "connection")).toBe("close");
    expect(await stopped).toBe(0);
  });

  it("leaves no timer", async () => {
    holdClock();
    const { route, asked, letGo } = held("held");
    const { port } = await start([route], endless);
    const before = vi.getTimerCount();
    const client = await RawClient.to(port);
    client.ask("GET /held").halfClose();
    await asked;
    await turns(port);
    expect(vi.getTimerCount()).toBe(before + 1);
    letGo();
    expect((await client.answer()).body).toBe("held");
    await client.closed();
    await turns(port);
    expect(vi.getTimerCount()).toBe(before);
  });

  it("comes at once without a request", async () => {
    const client = await clientOf([ok]);
    client.halfClose();
    expect(await client.rest()).toBe("");
  });

  it("comes with a 400 after half a head", async () => {
    const client = await clientOf([ok]);
    client.send("GET /ok HTTP/1.1", "host").halfClose();
    expect((await client.answer()).status).toBe(400);
    expect(await client.rest()).toBe("");
  });
});

describe("a client that half-closes and is gone: its handler", () => {
  it("sees clientGone abort at once, and a client that still reads gets its answer", async () => {
    const gone = gate();
    const asked = gate();
    const waits = get(Path.of("waits"), { inputs: { clientGone }, returns: Returns.text }, async ({ clientGone }) => {
      asked.open();
      await new Promise<void>((resolve) => clientGone.addEventListener("abort", () => resolve()));
      gone.open();
      return "gone";
    });
    const client = await clientOf([waits]);
    client.ask("GET /waits");
    await asked.passed;
    client.halfClose();
    await gone.passed;
    expect((await client.answer()).body).toBe("gone");
  });

  it("may see clientGone aborted when it reads it later", async () => {
    const { port } = await start([
      post(Path.of("late"), { inputs: { body, clientGone }, returns: Returns.text }, ({ clientGone }) =>
        String(clientGone.aborted),
      ),
    ]);
    const client = await RawClient.to(port);
    client.ask("POST /late", [], "x").halfClose();
    // The half-close may arrive with the body or after it, so both are correct.
    expect(["true", "false"]).toContain((await client.answer()).body);
  });

  it("need not use clientGone: its answer is dropped, and no error is logged", async () => {
    await eventually(() => expect(sockets()).toBe(0));
    const { route, asked, letGo } = held("held");
    const { port } = await start([route]);
    const client = await RawClient.to(port);
    client.ask("GET /held");
    await asked;
    client.close();
    await turns(port);
    letGo();
    await eventually(() => expect(sockets()).toBe(0));
    expect(messages("error")).toEqual([]);
  });

  it("that never answers does not keep the connection longer than sendTimeoutMs", async () => {
    await eventually(() => expect(sockets()).toBe(0));
    holdClock();
    const { route, asked } = held("held");
    const { port } = await start([route]);
    const client = await RawClient.to(port);
    client.ask("GET /held");
    await asked;
    client.close();
    await turns(port);
    for (let seconds = 0; seconds < 27; seconds++) vi.advanceTimersByTime(1000);
    await turns(port);
    await eventually(() => expect(sockets()).toBe(1));
    for (let seconds = 0; seconds < 8; seconds++) vi.advanceTimersByTime(1000);
    await eventually(() => expect(sockets()).toBe(0));
  });
});

describe("a client that half-closes and is gone: its stream", () => {
  it.each(["close", "halfClose"] as const)("ends within a second if it is quiet: %s", async (how) => {
    holdClock();
    const { route, begun, feed } = fed();
    const { port } = await start([route]);
    const client = await RawClient.to(port);
    client.ask("GET /fed");
    await begun;
    feed("one");
    await client.sees("one");
    client[how]();
    await turns(port);
    vi.advanceTimersByTime(500);
    vi.advanceTimersByTime(500);
    await eventually(() => expect(messages("info").at(-1)).toBe("stream on /fed ended: client gone"));
    expect(lines().at(-1)).toMatchObject({ "url.path": "/fed", "framework.stream.ended": "client gone" });
  });

  it("ends at its next chunks, and its producer is notified", async () => {
    // A quiet stream would end after a second, too: here only its chunks are to end it.
    holdClock();
    const { route, begun, ended, feed } = fed();
    const { port } = await start([route]);
    const client = await RawClient.to(port);
    client.ask("GET /fed");
    await begun;
    feed("one");
    await client.sees("one");
    client.close();
    await turns(port);
    // The client's machine answers the first of them with a reset, and the second fails.
    feed("two");
    await turns(port);
    feed("three");
    await eventually(() => expect(messages("info")).toContain("stream on /fed ended: client gone"));
    // A generator that waits is notified when it continues.
    feed("four");
    await ended;
    expect(messages("error")).toEqual([]);
  });

  it("is quiet, and clientGone aborts within a second", async () => {
    holdClock();
    const gone = gate();
    const route = get(Path.of("s"), { inputs: { clientGone }, returns: Returns.response }, ({ clientGone }) => {
      clientGone.addEventListener("abort", () => gone.open());
      return Answer.stream(new ReadableStream<Uint8Array>({ start: (to) => to.enqueue(Buffer.from("one")) }));
    });
    const { port } = await start([route]);
    const client = await RawClient.to(port);
    client.ask("GET /s");
    await client.sees("one");
    client.close();
    await turns(port);
    vi.advanceTimersByTime(500);
    vi.advanceTimersByTime(500);
    expect(await gone.passed).toBeUndefined();
  });
});

describe("a client that half-closes and is gone: after a handshake", () => {
  it.each([
    ["", 0],
    [", and behind another request", 1],
  ])("with unread bytes%s, is noticed by the handler that waits", async (_what, ahead) => {
    const asked = gate();
    const gone = gate();
    const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
    const route = get(
      Path.of("s"),
      { inputs: { clientGone }, returns: Returns.websocket(texts) },
      async ({ clientGone }) => {
        clientGone.addEventListener("abort", () => gone.open());
        asked.open();
        await gone.passed;
        return async () => {};
      },
    );
    const client = await clientOf([route, ok]);
    for (let i = 0; i < ahead; i++) client.ask("GET /ok");
    client.ask("GET /s", [
      "upgrade: websocket",
      "connection: Upgrade",
      "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
      "sec-websocket-version: 13",
    ]);
    await asked.passed;
    client.send("what a client sends before the 101");
    client.halfClose();
    expect(await gone.passed).toBeUndefined();
    await client.closed();
  });
});
