/** What the handler of a takeover reads of its connection. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { Answer, Dep, Path, Returns, clientGone, get, post, validWhile } from "usher-http";
import type { TakenConnection } from "usher-http";
import { messages } from "../../support/logs.ts";
import { eventually } from "../../support/eventually.ts";
import { clientOf, gate, holdClock, start } from "../../support/node-server.ts";
import { RawClient, turns } from "../../support/raw-client.ts";

const echo = get(Path.of("taken"), { returns: Returns.response }, () =>
  Answer.takeover("echo", async ({ readable, writable }) => {
    const writer = writable.getWriter();
    for await (const part of readable) await writer.write(part);
  }),
);

it("bytes that a client sent after its head are read first, and once", async () => {
  const client = await clientOf([echo]);
  client.send("GET /taken HTTP/1.1", "host: h", "connection: upgrade", "upgrade: echo", "", "abc");
  expect((await client.answer()).status).toBe(101);
  expect(await client.bytes(3)).toBe("abc");
  client.send("def");
  expect(await client.bytes(3)).toBe("def");
});

it("bytes that a client sent after its head are read, although it half-closed before its handler reads", async () => {
  const reads = gate();
  const late = get(Path.of("late"), { returns: Returns.response }, () =>
    Answer.takeover("echo", async ({ readable, writable }) => {
      await reads.passed;
      await readable.pipeTo(writable);
    }),
  );
  const { port } = await start([late]);
  const client = await RawClient.to(port);
  client.send("GET /late HTTP/1.1", "host: h", "connection: upgrade", "upgrade: echo", "", "abc").halfClose();
  expect((await client.answer()).status).toBe(101);
  await turns(port);
  reads.open();
  expect(await client.rest()).toBe("abc");
});

it("a handler that aborts its writer ends the connection, whatever it does next", async () => {
  const letGo = gate();
  const aborts = get(Path.of("aborts"), { returns: Returns.response }, () =>
    Answer.takeover("echo", async ({ writable }) => {
      await writable.abort();
      await letGo.passed;
    }),
  );
  const client = await clientOf([aborts]);
  client.ask("GET /aborts", ["connection: upgrade", "upgrade: echo"]);
  await client.closed();
  letGo.open();
  expect(client.socket.destroyed || client.socket.readableEnded).toBe(true);
});

it("a handler that reads no more is still notified when its client has gone", async () => {
  const [cancelled, gone] = [gate(), gate()];
  const writes = get(Path.of("writes"), { inputs: { clientGone }, returns: Returns.response }, ({ clientGone }) =>
    Answer.takeover("echo", async ({ readable }) => {
      clientGone.addEventListener("abort", () => gone.open());
      await readable.cancel();
      cancelled.open();
      await gone.passed;
    }),
  );
  const accepted: Socket[] = [];
  const taken = (message: unknown): void => void accepted.push((message as { readonly socket: Socket }).socket);
  subscribe("net.server.socket", taken);
  onTestFinished(() => void unsubscribe("net.server.socket", taken));
  const client = await clientOf([writes]);
  client.ask("GET /writes", ["connection: upgrade", "upgrade: echo"]);
  await cancelled.passed;
  client.send("x".repeat(200_000));
  // With bytes still unread, the runtime may report a reset as their end.
  await eventually(() => expect(accepted[0]?.bytesRead).toBeGreaterThan(200_000));
  client.leave();
  expect(await gone.passed).toBeUndefined();
  await eventually(() => expect(messages("info").at(-1)).toBe("takeover on /writes ended: client gone"));
});

it("a read that its handler abandons ends with an error, whatever happens afterwards", async () => {
  const left = gate<unknown>();
  const leaves = get(Path.of("leaves"), { returns: Returns.response }, () =>
    Answer.takeover("echo", async ({ readable }) => {
      readable.getReader().read().catch(left.open);
    }),
  );
  const client = await clientOf([leaves]);
  client.ask("GET /leaves", ["connection: upgrade", "upgrade: echo"]);
  expect(await left.passed).toEqual(new Error("the connection is closed: its handler has returned"));
  client.send("x".repeat(1000));
  client.socket.end();
  await client.closed();
  expect(messages("error")).toEqual([]);
});

it.each(["GET", "POST"])("a %s without Upgrade is not taken over, and the log has the reason", async (method) => {
  const taken = () => Answer.takeover("echo", async () => {});
  const client = await clientOf([
    get(Path.of("taken"), { returns: Returns.response }, taken),
    post(Path.of("taken"), { returns: Returns.response }, taken),
  ]);
  expect((await client.ask(`${method} /taken`, [], method === "GET" ? "" : "x").answer()).status).toBe(500);
  const why = 'a takeover to "echo", which the client did not offer';
  expect(messages("error")).toEqual([`${method} /taken: internal: ${why}`]);
});

it("bytes to a handler that reads no more are all dropped, and its writes arrive", async () => {
  const cancelled = gate();
  const dropped = gate();
  const writes = get(Path.of("writes"), { returns: Returns.response }, () =>
    Answer.takeover("echo", async ({ readable, writable }) => {
      await readable.cancel();
      cancelled.open();
      await dropped.passed;
      await writable.getWriter().write(new TextEncoder().encode("heard nothing"));
    }),
  );
  const client = await clientOf([writes]);
  client.ask("GET /writes", ["connection: upgrade", "upgrade: echo"]);
  expect((await client.answer()).status).toBe(101);
  await cancelled.passed;
  // More than the two systems buffer between them.
  await new Promise((resolve) => client.socket.write(Buffer.alloc(64 * 1024 * 1024), resolve));
  dropped.open();
  expect(await client.bytes(13)).toBe("heard nothing");
  expect(messages("error")).toEqual([]);
});

it("a handler that waited for its client may be quiet afterwards: the time limit of a write ends with the write", async () => {
  // No other time limit is this long.
  const sendTimeoutMs = 654_321;
  const timeouts = vi.spyOn(Socket.prototype, "setTimeout");
  const [written, quiet] = [gate(), gate()];
  const sends = get(Path.of("sends"), { returns: Returns.response }, () =>
    Answer.takeover("echo", async ({ writable }) => {
      const writer = writable.getWriter();
      for (let i = 0; i < 64; i++) await writer.write(new Uint8Array(1_048_576));
      written.open();
      await quiet.passed;
    }),
  );
  const client = await clientOf([sends], { sendTimeoutMs });
  client.socket.pause();
  client.ask("GET /sends", ["connection: upgrade", "upgrade: echo"]);
  const waiting = () => timeouts.mock.calls.findIndex(([ms]) => ms === sendTimeoutMs);
  const at = await eventually(() => {
    expect(waiting()).not.toBe(-1);
    return waiting();
  });
  client.socket.resume();
  await written.passed;
  const taken = timeouts.mock.contexts[at];
  const last = timeouts.mock.contexts.lastIndexOf(taken);
  expect(timeouts.mock.calls[last]?.[0]).toBe(0);
  // A listener for each wait would stay as long as the connection.
  expect(["drain", "timeout"].map((event) => (taken as Socket).listenerCount(event))).toEqual([0, 0]);
  quiet.open();
  timeouts.mockRestore();
});

it("a handler that ends its side still reads to the end of its client's side", async () => {
  const heard = gate<string>();
  const ends = get(Path.of("ends"), { returns: Returns.response }, () =>
    Answer.takeover("echo", async ({ readable, writable }) => {
      await writable.close();
      let text = "";
      for await (const part of readable) text += Buffer.from(part).toString();
      heard.open(text);
    }),
  );
  const client = await clientOf([ends]);
  client.ask("GET /ends", ["connection: upgrade", "upgrade: echo"]);
  expect((await client.answer()).status).toBe(101);
  await client.closed();
  client.send("more").halfClose();
  expect(await heard.passed).toBe("more");
  await eventually(() => expect(messages("info").at(-1)).toBe("takeover on /ends ended: finished"));
});

/** A value that records how its request ended. */
const heldUntil = (ends: unknown[]) =>
  Dep.scoped(
    {},
    () => 1,
    (_, { how }) => void ends.push(how),
  );

it("a call that got clientGone and rejects as its client ends its side is no error of a takeover", async () => {
  const ends: unknown[] = [];
  const inputs = { gone: clientGone, held: heldUntil(ends) };
  const waits = get(Path.of("waits"), { inputs, returns: Returns.response }, ({ gone }) =>
    Answer.takeover("echo", () => setTimeout(600_000, undefined, { signal: gone })),
  );
  const client = await clientOf([waits]);
  client.ask("GET /waits", ["connection: upgrade", "upgrade: echo"]);
  expect((await client.answer()).status).toBe(101);
  client.halfClose();
  await eventually(() => expect(messages("info").at(-1)).toBe("takeover on /waits ended: client gone"));
  expect(messages("error")).toEqual([]);
  await eventually(() => expect(ends).toEqual(["client gone"]));
});

it.each<[what: string, speak: (taken: TakenConnection) => Promise<unknown>]>([
  ["a pipe", ({ readable, writable, stopping }) => readable.pipeTo(writable, { signal: stopping })],
  ["a call", ({ stopping }) => setTimeout(600_000, undefined, { signal: stopping })],
])("%s that got `stopping` and rejects as the server stops is no error", async (_what, speak) => {
  const told: unknown[] = [];
  const ends: unknown[] = [];
  const speaks = get(Path.of("speaks"), { inputs: { held: heldUntil(ends) }, returns: Returns.response }, () =>
    Answer.takeover("lines", async (taken) => void (await speak(taken))),
  );
  const server = await start([speaks], { onError: (error) => void told.push(error) });
  const client = await RawClient.to(server.port);
  client.ask("GET /speaks", ["connection: upgrade", "upgrade: lines"]);
  expect((await client.answer()).status).toBe(101);
  await server.stop();
  expect(messages("info")).toContain("takeover on /speaks ended: server stopped");
  expect([told, messages("error"), ends]).toEqual([[], [], ["stopped"]]);
});

it("a write that its client does not read in time fails, and the connection ends", async () => {
  const failed = gate<unknown>();
  const floods = get(Path.of("floods"), { returns: Returns.response }, () =>
    Answer.takeover("echo", async ({ writable }) => {
      const writer = writable.getWriter();
      // The handler throws nothing itself: the log has the reason.
      for (;;)
        await writer.write(new Uint8Array(1_048_576)).catch((error) => (failed.open(error), Promise.reject(error)));
    }),
  );
  const client = await clientOf([floods], { sendTimeoutMs: 100 });
  client.socket.pause();
  client.ask("GET /floods", ["connection: upgrade", "upgrade: echo"]);
  expect(await failed.passed).toEqual(new Error("the connection is closed: client stopped reading"));
  await eventually(() => expect(messages("info").at(-1)).toBe("takeover on /floods ended: client stopped reading"));
  expect(messages("error")).toEqual([]);
});

it("a write that its client read late leaves a later one its whole time", async () => {
  holdClock();
  onTestFinished(() => void vi.useRealTimers());
  const part = new Uint8Array(16_777_216);
  const [first, second] = [gate(), gate()];
  const writes = get(Path.of("writes"), { returns: Returns.response }, () =>
    Answer.takeover("echo", async ({ writable }) => {
      const writer = writable.getWriter();
      await writer.write(part);
      first.open();
      await second.passed;
      await writer.write(part);
      await writer.close();
    }),
  );
  // At this rate no byte that is taken gives more time.
  const { port } = await start([writes], { sendTimeoutMs: 30_000, minSendRate: 1_000_000_000 });
  const client = await RawClient.to(port);
  client.ask("GET /writes", ["connection: upgrade", "upgrade: echo"]);
  expect((await client.answer()).status).toBe(101);
  await client.bytes(part.length);
  await first.passed;
  vi.advanceTimersByTime(29_000);
  client.socket.pause();
  second.open();
  // The buffers of the system take what they can.
  for (let i = 0; i < 3; i++) await turns(port);
  vi.advanceTimersByTime(20_000);
  client.socket.resume();
  expect((await client.rest()).length).toBe(part.length);
});

it("one whose input is not valid any more ends: its handler by stopping, or the connection is cut", async () => {
  const told: string[] = [];
  const valid = Dep.join({ validWhile }, ({ validWhile }) => validWhile({ until: new Date(Date.now() + 100) }));
  const ending = get(Path.of("ending"), { inputs: { valid }, returns: Returns.response }, () =>
    Answer.takeover("echo", async ({ readable, writable, stopping }) => {
      stopping.addEventListener("abort", () => told.push("stopping"));
      await readable.pipeTo(writable, { signal: stopping });
    }),
  );
  const deaf = get(Path.of("deaf"), { inputs: { valid }, returns: Returns.response }, () =>
    Answer.takeover("echo", () => new Promise<void>(() => {})),
  );
  const { port } = await start([ending, deaf]);
  for (const path of ["/ending", "/deaf"]) {
    const client = await RawClient.to(port);
    client.ask(`GET ${path}`, ["connection: upgrade", "upgrade: echo"]);
    expect((await client.answer()).status).toBe(101);
    await client.closed();
  }
  expect(told).toEqual(["stopping"]);
  await eventually(() => expect(messages("info")).toContain("takeover on /ending ended: access ended"));
});
