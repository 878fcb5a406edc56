/** The state that an HTTP/2 stream, or its connection, leaves for later ones. */
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Body, Middleware } from "usher-http";
import { Answer, Dep, Path, Returns, Socket, body, bodyStream, clientGone, get, post } from "usher-http";
import { came, eventually } from "../../support/eventually.ts";
import { gate } from "../../support/gate.ts";
import { FrameClient, http2Ask, http2Client, requestBlock } from "../../support/http2-client.ts";
import { messages } from "../../support/logs.ts";
import { holdClock, start } from "../../support/node-server.ts";

const inText = { returns: Returns.text };
const ok = get(Path.of("ok"), inText, () => "ok");
const upload = bodyStream({ max: 1_000_000 });
/** END_STREAM and END_HEADERS. */
const wholeRequest = 5;
/** END_HEADERS alone: a body follows. */
const headOnly = 4;
const noError = Buffer.from([0, 0, 0, 0]);
const cancel = Buffer.from([0, 0, 0, 8]);

/** A route whose handlers wait at a gate, and the number of waiting handlers. */
function waits() {
  const told = { running: 0, held: gate() };
  const route = get(Path.of("held"), inText, async () => {
    told.running++;
    await told.held.passed;
    told.running--;
    return "held";
  });
  return { told, route };
}

it("http2: a body whose request is answered before it has arrived is incomplete", async () => {
  const handled = vi.fn(() => "handled");
  const early = gate<Answer>();
  let late: Promise<Answer> | undefined;
  const racing: Middleware = ({ path }, next) => {
    if (path !== "/whole") return next();
    late = next();
    return early.passed;
  };
  const whole = post(Path.of("whole"), { inputs: { body }, ...inText }, handled);
  const { url } = await start([whole, ok], { http2: true, middleware: [racing] });
  const session = await http2Client(url);
  const stream = session.request({ ":method": "POST", ":path": "/whole" });
  stream.on("error", () => {}).write("abc");
  for (let i = 0; i < 3; i++) await http2Ask(session, { ":path": "/ok" });
  early.open(Answer.make("early"));
  await once(stream.resume(), "response");
  expect((await late)?.status).toBe(400);
  expect(handled).not.toHaveBeenCalled();
  expect((await http2Ask(session, { ":path": "/ok" })).body).toBe("ok");
});

describe("http2: a connection", () => {
  it.each([
    ["says nothing", () => {}],
    ["ends its side at once", (socket: ReturnType<typeof connect>) => void socket.end()],
  ])("whose client %s is closed", async (_what, act) => {
    const { port } = await start([ok], { http2: true, idleTimeoutMs: 50, headTimeoutMs: 50 });
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true }).resume();
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
    act(socket);
    await once(socket, "end");
    came(true);
  });

  it("with a request that is answered late is not idle, and is idle after the answer", async () => {
    holdClock();
    const { told, route } = waits();
    const { url } = await start([route, ok], { http2: true, idleTimeoutMs: 1000 });
    const session = await http2Client(url);
    const late = http2Ask(session, { ":path": "/held" });
    await eventually(() => expect(told.running).toBe(1));
    vi.advanceTimersByTime(5000);
    expect((await http2Ask(session, { ":path": "/ok" })).body).toBe("ok");
    told.held.open();
    expect((await late).body).toBe("held");
    let isTold = false;
    session.once("goaway", () => (isTold = true));
    await eventually(() => {
      vi.advanceTimersByTime(2000);
      expect(isTold).toBe(true);
    });
  });
});

describe("http2: a connection that ends", () => {
  it("is closed after an answer that closes it, with the pending answers on it", async () => {
    const { told, route } = waits();
    const closing = get(Path.of("closes"), { returns: Returns.response }, () =>
      Answer.closeConnection(Answer.make("last")),
    );
    const { url } = await start([route, closing], { http2: true });
    const session = await http2Client(url);
    const late = http2Ask(session, { ":path": "/held" });
    await eventually(() => expect(told.running).toBe(1));
    const [goaway, closed] = [once(session, "goaway"), once(session, "close")];
    expect((await http2Ask(session, { ":path": "/closes" })).body).toBe("last");
    await goaway;
    told.held.open();
    expect((await late).body).toBe("held");
    await closed;
  });

  it("of a client that acknowledges nothing ends with its last response when the server stops", async () => {
    const { told, route } = waits();
    const server = await start([route], { http2: true, drainMs: 60_000 });
    const client = await FrameClient.to(server.port);
    client.write("headers", wholeRequest, 1, requestBlock("/held"));
    await eventually(() => expect(told.running).toBe(1));
    const stopped = server.stop();
    await eventually(() => expect(client.goaways).toEqual([0]));
    told.held.open();
    expect(await stopped).toBe(0);
    await eventually(() => expect([client.bytes, client.isClosed]).toEqual([4, true]));
  });

  it("is logged with the reason, and counted once, however many streams were open", async () => {
    const { told, route } = waits();
    // Time that passes would allow more.
    vi.useFakeTimers({ toFake: ["performance", "setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
    const { port } = await start([route], { http2: true });
    const client = await FrameClient.to(port);
    for (let i = 0; i < 50; i++) client.write("headers", wholeRequest, 2 * i + 1, requestBlock("/held"));
    await eventually(() => expect(told.running).toBe(50));
    try {
      // One above the limit of streams. Bytes that the server has not read when it closes would cost the client its GOAWAY.
      for (let i = 50; i <= 550; i++) {
        client.write("headers", wholeRequest, 2 * i + 1, requestBlock("/held"));
        client.write("reset", 0, 2 * i + 1, cancel);
      }
      await client.closed;
      vi.advanceTimersByTime(60_000);
    } finally {
      // The timers of a stop are real ones.
      vi.useRealTimers();
    }
    expect(client.goaways).toEqual([11]);
    const counted = messages("warn").filter((line) => String(line).startsWith("HTTP/2 connections closed"));
    expect(counted).toEqual(["HTTP/2 connections closed whose clients sent too much: 1"]);
  });
});

describe("http2: handlers of streams that were reset", () => {
  it("are limited to 200 on a connection, and to 200 again after they have ended", async () => {
    const { told, route } = waits();
    const { port } = await start([route, ok], { http2: true });
    const client = await FrameClient.to(port);
    let stream = 1;
    for (let times = 0; times < 2; times++) {
      told.held = gate();
      for (let running = 0; running < 200; running += 50) {
        const from = stream;
        for (let i = 0; i < 50; i++, stream += 2) client.write("headers", wholeRequest, stream, requestBlock("/held"));
        await eventually(() => expect(told.running).toBe(running + 50));
        for (let reset = from; reset < stream; reset += 2) client.write("reset", 0, reset, cancel);
      }
      client.write("headers", wholeRequest, stream, requestBlock("/ok"));
      await eventually(() => expect(client.resets.at(-1)).toEqual([stream, 7]));
      stream += 2;
      told.held.open();
      await eventually(() => expect(told.running).toBe(0));
      client.write("headers", wholeRequest, stream, requestBlock("/ok"));
      await eventually(() => expect(client.bytes).toBe(2 * (times + 1)));
      stream += 2;
    }
  });
});

describe("http2: a body", () => {
  it.each([
    ["before it is read", 0],
    ["between two parts", 1],
  ])("whose stream is reset %s ends with an error", async (_what, parts) => {
    const read: boolean[] = [];
    const route = post(Path.of("reads"), { inputs: { upload, clientGone }, ...inText }, async (inputs) => {
      const gone = new Promise((resolve) => inputs.clientGone.addEventListener("abort", resolve));
      for (let i = 0; i < parts; i++) read.push((await inputs.upload.read()).ok);
      reached.open();
      await gone;
      read.push((await inputs.upload.read()).ok);
      return "read";
    });
    const reached = gate();
    const { port } = await start([route], { http2: true });
    const client = await FrameClient.to(port);
    client.write("headers", headOnly, 1, requestBlock("/reads", "POST"));
    for (let i = 0; i < 2; i++) client.write("data", 0, 1, Buffer.alloc(1000));
    await reached.passed;
    client.write("reset", 0, 1, cancel);
    await eventually(() => expect(read).toEqual([...Array.from({ length: parts }, () => true), false]));
  });

  it.each([
    ["NO_ERROR", "in part", noError],
    ["CANCEL", "in part", cancel],
    ["NO_ERROR", "past its limit", noError],
    ["CANCEL", "past its limit", cancel],
  ])("whose stream is reset with %s, and that was read %s, leaves nothing open", async (_code, how, payload) => {
    const [reached, go] = [gate(), gate()];
    const part = post(Path.of("part"), { inputs: { upload }, ...inText }, async ({ upload }) => {
      await upload.read();
      return "read";
    });
    const whole = post(Path.of("whole"), { inputs: { body }, ...inText }, () => "read");
    const waiting: Middleware = async ({ path }, next) => {
      const answer = await next();
      if (path === "/ok") return answer;
      reached.open();
      await go.passed;
      return answer;
    };
    const options = { maxBody: 1000, middleware: [waiting], drainMs: 600_000, http2: true };
    const server = await start([part, whole, ok], options);
    const client = await FrameClient.to(server.port);
    client.write("headers", headOnly, 1, requestBlock(how === "in part" ? "/part" : "/whole", "POST"));
    for (let i = 0; i < 4; i++) client.write("data", 0, 1, Buffer.alloc(1000));
    await reached.passed;
    client.write("reset", 0, 1, payload);
    client.write("headers", wholeRequest, 3, requestBlock("/ok"));
    await eventually(() => expect(client.bytes).toBe(2));
    go.open();
    const stopped = server.stop();
    await client.closed;
    expect(await stopped).toBe(0);
  });
});

describe("http2: a body, read whole and in part", () => {
  it("that is read whole leaves its stream to end normally", async () => {
    const route = post(Path.of("reads"), { inputs: { upload }, ...inText }, async ({ upload }) => {
      while (((await upload.read()) as { value?: unknown }).value !== undefined);
      return "read";
    });
    const { port } = await start([route], { http2: true });
    const client = await FrameClient.to(port);
    client.write("headers", headOnly, 1, requestBlock("/reads", "POST"));
    client.write("data", 1, 1, Buffer.alloc(1000));
    await eventually(() => expect([client.bytes, client.endsStream]).toEqual([4, true]));
    expect(client.resets).toEqual([]);
  });

  it.each([
    ["not read", post(Path.of("unread"), inText, () => "unread")],
    [
      "read in part",
      post(Path.of("unread"), { inputs: { upload }, ...inText }, async ({ upload }) => {
        await upload.read();
        // The bytes after it have arrived.
        await new Promise<void>((resolve) => {
          setTimeout(resolve, 20);
        });
        return "unread";
      }),
    ],
  ])("that is %s is read no further, and the connection stays open", async (_what, unread) => {
    const server = await start([unread], { http2: true, drainMs: 600_000 });
    const client = await FrameClient.to(server.port);
    for (const stream of [1, 3]) {
      client.write("headers", headOnly, stream, requestBlock("/unread", "POST"));
      for (let i = 0; i < 4; i++) client.write("data", 0, stream, Buffer.alloc(1000));
      await eventually(() => expect(client.resets.at(-1)).toEqual([stream, 0]));
    }
    expect(client.bytes).toBe(12);
    // None of them is left open.
    expect(await server.stop()).toBe(0);
  });
});

describe("http2: a body without bytes", () => {
  it.each([
    ["whole", { body }, ({ body }: { readonly body?: Uint8Array }) => Promise.resolve(body?.length)],
    [
      "part by part",
      { body: upload },
      async ({ body }: { readonly body?: Body }) => {
        const read = await body?.read();
        return read?.ok === true && read.value === undefined ? 0 : "a failure";
      },
    ],
  ])("that ended without a byte before it is read %s is empty", async (_how, inputs, lengthOf) => {
    const ended = gate();
    const waited = Dep.join({}, () => ended.passed.then(() => "waited"));
    const reads = post(Path.of("reads"), { inputs: { waited, ...inputs }, ...inText }, async (values) => {
      return `${await lengthOf(values as never)} bytes`;
    });
    const { port } = await start([reads, ok], { http2: true });
    const client = await FrameClient.to(port);
    client.write("headers", headOnly, 1, requestBlock("/reads", "POST"));
    client.write("data", 1, 1);
    client.write("headers", wholeRequest, 3, requestBlock("/ok"));
    await eventually(() => expect(client.bytes).toBe("ok".length));
    ended.open();
    await eventually(() => expect(client.bytes).toBe("ok0 bytes".length));
    expect(client.resets).toEqual([]);
  });
});

describe("http2: a stream", () => {
  it.each([
    ["NO_ERROR", noError],
    ["CANCEL", cancel],
  ])("that its client resets with %s before the answer aborts clientGone", async (_code, payload) => {
    const [reached, gone] = [gate(), gate()];
    const route = get(Path.of("waits"), { inputs: { clientGone }, ...inText }, async ({ clientGone }) => {
      clientGone.addEventListener("abort", () => gone.open());
      reached.open();
      await gone.passed;
      return "late";
    });
    const { port } = await start([route], { http2: true });
    const client = await FrameClient.to(port);
    client.write("headers", wholeRequest, 1, requestBlock("/waits"));
    await reached.passed;
    client.write("reset", 0, 1, payload);
    await gone.passed;
    came(true);
  });

  it("that its client resets without an error while it is sent ends at once", async () => {
    const large = get(Path.of("large"), inText, () => "x".repeat(100_000));
    const server = await start([large, ok], { http2: true, drainMs: 600_000, sendTimeoutMs: 600_000 });
    const client = await FrameClient.to(server.port);
    client.write("headers", wholeRequest, 1, requestBlock("/large"));
    await eventually(() => expect(client.bytes).toBe(65_535));
    client.write("reset", 0, 1, noError);
    expect(await server.stop()).toBe(0);
  });

  it("whose client does not read is reset, and not ended", async () => {
    const large = get(Path.of("large"), inText, () => "x".repeat(100_000));
    const { port } = await start([large], { http2: true, sendTimeoutMs: 50 });
    const client = await FrameClient.to(port, Buffer.from([0, 4, 0, 0, 0, 0]));
    client.write("headers", wholeRequest, 1, requestBlock("/large"));
    await eventually(() => expect(client.resets).toEqual([[1, 2]]));
    expect([client.bytes, client.endsStream]).toEqual([0, false]);
  });
});

describe("http2: a stream that waits, and a stream that is refused", () => {
  it("that waits for its producer, and not for its client, does not time out", async () => {
    holdClock();
    const more = gate();
    const bytes = 4 * 16_384;
    async function* parts(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(bytes);
      await more.passed;
      yield new Uint8Array(10);
    }
    const route = get(Path.of("stream"), { returns: Returns.response }, () => Answer.stream(parts()));
    const { url } = await start([route, ok], { http2: true, sendTimeoutMs: 1000 });
    const session = await http2Client(url);
    const stream = session.request({ ":path": "/stream" });
    let taken = 0;
    stream.on("data", (part: Buffer) => (taken += part.byteLength));
    const closed = once(stream, "close");
    await eventually(() => expect(taken).toBe(bytes));
    expect((await http2Ask(session, { ":path": "/ok" })).body).toBe("ok");
    vi.advanceTimersByTime(10_000);
    more.open();
    await closed;
    expect([taken, stream.rstCode]).toEqual([bytes + 10, 0]);
  });

  it("leaves no listener of the times when it waited for its client", async () => {
    const warnings: string[] = [];
    const warned = ({ message }: Error): void => void warnings.push(message);
    process.on("warning", warned);
    onTestFinished(() => void process.off("warning", warned));
    async function* parts(): AsyncGenerator<Uint8Array> {
      for (let i = 0; i < 40; i++) yield new Uint8Array(16_384);
    }
    const route = get(Path.of("stream"), { returns: Returns.response }, () => Answer.stream(parts()));
    const session = await http2Client((await start([route], { http2: true })).url);
    expect((await http2Ask(session, { ":path": "/stream" })).body).toHaveLength(40 * 16_384);
    expect(warnings.filter((line) => line.includes("listeners"))).toEqual([]);
  });

  it("is refused when its route is a WebSocket, without headers that HTTP/2 does not have", async () => {
    const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
    const chat = get(Path.of("chat"), { returns: Returns.websocket(texts) }, () => async () => {});
    const session = await http2Client((await start([chat, ok], { http2: true })).url);
    for (let i = 0; i < 2; i++) {
      const { status, headers } = await http2Ask(session, { ":path": "/chat" });
      expect([status, headers["upgrade"], headers["connection"]]).toEqual([426, undefined, undefined]);
    }
    expect((await http2Ask(session, { ":path": "/ok" })).body).toBe("ok");
  });
});
