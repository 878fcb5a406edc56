/** Stopping (contract 4.6; facts 8.4; rows SV-18, SV-19, SV-21). */
import { describe, expect, it, vi } from "vitest";
import { Answer, Event, Health, Path, Returns, body, get, post } from "usher-http";
import { messages } from "../../support/logs.ts";
import { gate, holdClock, start } from "../../support/node-server.ts";
import { RawClient, header } from "../../support/raw-client.ts";

const hello = get(Path.of("hello"), { returns: Returns.text }, () => "hi");

/** A route that answers when the test releases it. */
function held() {
  const asked = gate();
  const letGo = gate();
  const route = get(Path.of("held"), { returns: Returns.text }, async () => (asked.open(), await letGo.passed, "held"));
  return { route, asked: asked.passed, letGo: letGo.open };
}

/** Longer than any test runs: a stop that ends earlier did not wait for it. */
const drainMs = 600_000;

describe("a server that stops: connections", () => {
  it("SV-18 refuses new connections", async () => {
    const server = await start([hello], { drainMs });
    expect((await (await RawClient.to(server.port)).ask("GET /hello", ["connection: close"]).answer()).body).toBe("hi");
    expect(await server.stop()).toBe(0);
    await expect(RawClient.to(server.port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    expect(messages("info").slice(-2)).toEqual(["stopping, with 0 requests in flight", "stopped"]);
  });

  it("leaves no timer, however often a server starts and stops", async () => {
    holdClock();
    for (let i = 0; i < 2; i++) {
      const server = await start([hello]);
      expect(vi.getTimerCount()).toBeGreaterThan(0);
      await server.stop();
      expect(vi.getTimerCount()).toBe(0);
    }
  });

  it("resolves `stopped` for code that did not call stop", async () => {
    const server = await start([hello], { drainMs });
    const waited = server.stopped;
    expect(await Promise.race([waited, Promise.resolve("running")])).toBe("running");
    const stopping = server.stop();
    expect(await waited).toBe(0);
    expect(await stopping).toBe(0);
  });

  it("SV-18, SV-21 finishes requests in flight, refuses new ones, and sends Connection: close", async () => {
    const { route, asked, letGo } = held();
    const server = await start([route], { drainMs });
    const client = await RawClient.to(server.port);
    client.ask("GET /held");
    await asked;
    const stopped = server.stop();
    await expect(RawClient.to(server.port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    letGo();
    const answered = await client.answer();
    expect([answered.status, answered.body, header(answered, "connection")]).toEqual([200, "held", "close"]);
    expect(await stopped).toBe(0);
    expect(messages("info")).toContain("stopping, with 1 request in flight");
  });

  it("SV-21 answers no pipelined request after an answer with Connection: close", async () => {
    const { route, asked, letGo } = held();
    const server = await start([route, hello], { drainMs });
    const client = await RawClient.to(server.port);
    client.ask("GET /held");
    await asked;
    const stopped = server.stop();
    letGo();
    expect(header(await client.answer(), "connection")).toBe("close");
    expect(await client.ask("GET /hello").rest()).toBe("");
    expect(await stopped).toBe(0);
  });

  it("does not wait for a kept connection without a request", async () => {
    const server = await start([hello], { drainMs });
    const clients = await Promise.all([0, 1, 2].map(() => RawClient.to(server.port)));
    for (const client of clients) expect((await client.ask("GET /hello").answer()).body).toBe("hi");
    expect(await server.stop()).toBe(0);
    for (const client of clients) expect(await client.rest()).toBe("");
  });

  it("does not wait for a connection that sent no request, or half a head", async () => {
    const server = await start([hello], { drainMs });
    await RawClient.to(server.port);
    (await RawClient.to(server.port)).send("GET /hello HTTP/1.1", "host");
    // Both are with the server by the time that it has answered another.
    expect((await (await RawClient.to(server.port)).ask("GET /hello", ["connection: close"]).answer()).body).toBe("hi");
    expect(await server.stop()).toBe(0);
  });
});

describe("a server that stops: time", () => {
  it("SV-19 cuts off what is not answered in time, and returns the number", async () => {
    const never = get(Path.of("never"), { returns: Returns.text }, () => new Promise<string>(() => {}));
    const reads = post(Path.of("reads"), { inputs: { body }, returns: Returns.text }, () => "");
    const server = await start([never, reads, hello], { drainMs: 50 });
    const cut = await Promise.all([0, 1].map(() => RawClient.to(server.port)));
    for (const client of cut) client.ask("GET /never");
    const sending = await RawClient.to(server.port);
    sending.send("POST /reads HTTP/1.1", "host: h", "content-length: 10", "", "abc");
    expect((await (await RawClient.to(server.port)).ask("GET /hello", ["connection: close"]).answer()).body).toBe("hi");
    expect(await server.stop()).toBe(3);
    for (const client of [...cut, sending]) expect(await client.rest()).toBe("");
    expect(messages("warn")).toEqual(["stopped with 3 requests unanswered after 0.05s"]);
  });

  let isWaiting = true;
  it.each([
    [
      "that waits",
      async function* (ended: () => void) {
        yield Buffer.from("x");
        // Not longer than the test: it would take CPU time of the following tests.
        while (isWaiting) await new Promise((resolve) => setImmediate(resolve));
        ended();
      },
    ],
    [
      "that never stops",
      async function* (ended: () => void) {
        try {
          for (;;) {
            yield Buffer.from("x");
            await new Promise((resolve) => setImmediate(resolve));
          }
        } finally {
          ended();
        }
      },
    ],
    [
      "of the platform's",
      (ended: () => void) =>
        new ReadableStream<Uint8Array>({ start: (to) => to.enqueue(Buffer.from("x")), cancel: () => ended() }),
    ],
  ])(
    "EV-15 ends an event stream at once, for any kind of producer, and the client sees that it is incomplete: one %s",
    async (_what, make) => {
      const ended = gate();
      const streams = get(Path.of("s"), { returns: Returns.response }, async () =>
        Answer.stream(make(ended.open), { contentType: "text/event-stream; charset=utf-8" }),
      );
      const server = await start([streams], { drainMs });
      const client = await RawClient.to(server.port);
      client.ask("GET /s");
      await client.sees("\r\nx\r\n");
      expect(await server.stop()).toBe(0);
      expect(await client.rest()).not.toContain("\r\n0\r\n\r\n");
      isWaiting = _what !== "that waits";
      await ended.passed;
      expect(messages("info")).toContain("stream on /s ended: server stopped");
      expect(messages("error")).toEqual([]);
    },
  );
});

describe("a server that stops: streams", () => {
  it.each([
    ["with no length", {}],
    ["that has a length", { length: 6 }],
  ])("SV-19 lets a stream %s finish, like any answer", async (_what, options) => {
    const more = gate();
    async function* parts() {
      yield Buffer.from("one");
      await more.passed;
      yield Buffer.from("two");
    }
    const streams = get(Path.of("s"), { returns: Returns.response }, () => Answer.stream(parts(), options));
    const server = await start([streams], { drainMs });
    const client = await RawClient.to(server.port);
    client.ask("GET /s");
    await client.sees("one");
    const stopped = server.stop();
    await expect(RawClient.to(server.port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    more.open();
    expect((await client.answer()).body).toBe("onetwo");
    expect(await stopped).toBe(0);
    expect(messages("info")).toContain("stream on /s ended: finished");
  });

  it.each([undefined, 6])("SV-19 cuts off a stream that does not end in time, of length %s", async (length) => {
    const ended = gate();
    const parts = new ReadableStream<Uint8Array>({
      start: (to) => to.enqueue(Buffer.from("one")),
      cancel: () => ended.open(),
    });
    const streams = get(Path.of("s"), { returns: Returns.response }, () =>
      Answer.stream(parts, length === undefined ? {} : { length }),
    );
    const server = await start([streams], { drainMs: 50 });
    const client = await RawClient.to(server.port);
    client.ask("GET /s");
    await client.sees("one");
    expect(await server.stop()).toBe(1);
    await ended.passed;
    expect(await client.rest()).not.toContain("\r\n0\r\n\r\n");
    expect(messages("info")).toContain("stream on /s ended: server stopped");
  });

  it("EV-15 sends an answer after which an event stream was pipelined", async () => {
    const { route, asked, letGo } = held();
    const feed = get(Path.of("feed"), { returns: Returns.events([]) }, () => () => new Promise(() => {}));
    const server = await start([route, feed], { drainMs });
    const client = await RawClient.to(server.port);
    client.ask("GET /held").ask("GET /feed");
    await asked;
    const stopped = server.stop();
    // Longer than a closing connection waits.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    letGo();
    expect((await client.answer()).body).toBe("held");
    await client.closed();
    expect(await stopped).toBe(0);
    expect(messages("info")).toContain("stream on /feed ended: server stopped");
  });
});

describe("a server that stops: streams next to others", () => {
  it("SV-19 lets a stream continue while other requests are answered", async () => {
    const { route, asked, letGo } = held();
    const more = gate();
    async function* parts() {
      yield Buffer.from("one");
      await more.passed;
      yield Buffer.from("two");
    }
    const streams = get(Path.of("s"), { returns: Returns.response }, () => Answer.stream(parts()));
    const server = await start([route, streams], { drainMs });
    const streamed = await RawClient.to(server.port);
    streamed.ask("GET /s");
    await streamed.sees("one");
    const client = await RawClient.to(server.port);
    client.ask("GET /held");
    await asked;
    const stopped = server.stop();
    more.open();
    expect((await streamed.answer()).body).toBe("onetwo");
    letGo();
    expect((await client.answer()).body).toBe("held");
    expect(await stopped).toBe(0);
  });

  it("SV-19 lets a stream finish that begins only during the stop", async () => {
    const [asked, letGo, more] = [gate(), gate(), gate()];
    async function* parts() {
      yield Buffer.from("one");
      await more.passed;
      yield Buffer.from("two");
    }
    const streams = get(Path.of("s"), { returns: Returns.response }, async () => {
      asked.open();
      await letGo.passed;
      return Answer.stream(parts());
    });
    const server = await start([streams], { drainMs });
    const client = await RawClient.to(server.port);
    client.ask("GET /s");
    await asked.passed;
    const stopped = server.stop();
    letGo.open();
    await client.sees("one");
    more.open();
    expect((await client.answer()).body).toBe("onetwo");
    expect(await stopped).toBe(0);
  });

  it("EV-15 ends an event stream also when its client does not read", async () => {
    const more = Event.comment("x".repeat(65_536));
    const streams = get(Path.of("s"), { returns: Returns.events([]) }, () => async (send) => {
      while ((await send(more)).ok);
    });
    const server = await start([streams], { drainMs });
    const client = await RawClient.to(server.port);
    client.ask("GET /s");
    await client.sees("\r\n\r\n");
    client.socket.pause();
    expect(await server.stop()).toBe(0);
  });
});

describe("a server that stops: clients", () => {
  it("SV-18 lets a client finish reading its answer", async () => {
    const bytes = 32 * 1024 * 1024;
    const big = get(Path.of("big"), { returns: Returns.response }, () => Answer.make(Buffer.alloc(bytes, 0x78)));
    const server = await start([big], { drainMs });
    const client = await RawClient.to(server.port);
    client.ask("GET /big");
    await client.sees("\r\n\r\n");
    client.socket.pause();
    const stopped = server.stop();
    await expect(RawClient.to(server.port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    client.socket.resume();
    expect((await client.answer()).body.length).toBe(bytes);
    expect(await stopped).toBe(0);
  });

  it("SV-19 cuts off and counts an answer that a client has not read in time", async () => {
    const big = get(Path.of("big"), { returns: Returns.response }, () => Answer.make(Buffer.alloc(64 * 1024 * 1024)));
    async function* parts() {
      yield Buffer.from("one");
      await new Promise(() => {});
    }
    const known = get(Path.of("known"), { returns: Returns.response }, () => Answer.stream(parts(), { length: 6 }));
    const server = await start([big, known], { drainMs: 50 });
    const clients = await Promise.all([0, 1].map(() => RawClient.to(server.port)));
    for (const [i, client] of clients.entries()) {
      client.ask(i === 0 ? "GET /big" : "GET /known");
      await client.sees("\r\n\r\n");
      client.socket.pause();
    }
    expect(await server.stop()).toBe(2);
    expect(messages("warn")).toEqual(["stopped with 2 requests unanswered after 0.05s"]);
  });
});

describe("a server that stops: its handlers", () => {
  it("waits for a handler whose client has gone, so that its work is done", async () => {
    const { route, asked, letGo } = held();
    const server = await start([route], { drainMs });
    const client = await RawClient.to(server.port);
    client.ask("GET /held");
    await asked;
    client.leave();
    let isOver = false;
    const stopped = server.stop().then((cut) => ((isOver = true), cut));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(isOver).toBe(false);
    letGo();
    expect(await stopped).toBe(0);
  });

  it("is not ready from the start of the stop", async () => {
    const { route, asked, letGo } = held();
    const server = await start([route, ...Health.routes([])], { drainMs });
    const client = await RawClient.to(server.port);
    expect((await client.ask("GET /readyz").answer()).status).toBe(200);
    client.ask("GET /held").ask("GET /hello");
    await asked;
    const stopped = server.stop();
    expect((await server.app.fetch(new Request("http://h/readyz"))).status).toBe(503);
    letGo();
    expect(await stopped).toBe(0);
  });

  it("stops once: a second call returns the result of the first", async () => {
    const never = get(Path.of("never"), { returns: Returns.text }, () => new Promise<string>(() => {}));
    const server = await start([never, hello], { drainMs: 50 });
    (await RawClient.to(server.port)).ask("GET /never");
    expect((await (await RawClient.to(server.port)).ask("GET /hello").answer()).body).toBe("hi");
    const both = [server.stop(), server.stop()];
    expect(await Promise.all(both)).toEqual([1, 1]);
    expect(await server.stop()).toBe(1);
    expect(messages("info").filter((message) => String(message).startsWith("stopping"))).toHaveLength(1);
  });
});

describe("signals", () => {
  it.each(["SIGTERM", "SIGINT"] as const)("%s stops the server, and its listener is removed", async (signal) => {
    const before = process.listenerCount(signal);
    const server = await start([hello], { signals: true, drainMs });
    expect(process.listenerCount(signal)).toBe(before + 1);
    process.emit(signal);
    expect(await server.stop()).toBe(0);
    expect(process.listenerCount(signal)).toBe(before);
    expect(messages("info").at(-1)).toBe("stopped");
  });

  it("stop removes the listeners, and none are added without the option", async () => {
    const count = () => process.listenerCount("SIGTERM") + process.listenerCount("SIGINT");
    const before = count();
    await start([hello]);
    expect(count()).toBe(before);
    const server = await start([hello], { signals: true });
    await server.stop();
    expect(count()).toBe(before);
  });

  it("SIGTERM does not end a process whose server already stops, because a pre-stop hook did that", async () => {
    const before = process.listenerCount("SIGTERM");
    const server = await start([hello], { signals: true, drainMs });
    const stopped = server.stop();
    expect(process.listenerCount("SIGTERM")).toBe(before + 1);
    process.emit("SIGTERM");
    // The next signal ends it.
    expect(process.listenerCount("SIGTERM")).toBe(before);
    await stopped;
  });

  it("a server that started and stopped leaves nothing in the process", async () => {
    await (await start([hello])).stop();
    const count = () => process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
    const before = count();
    for (let i = 0; i < 3; i++) await (await start([hello], { signals: true })).stop();
    expect(count()).toBe(before);
  });
});
