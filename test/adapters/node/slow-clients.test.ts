import { waitMs } from "../../support/patience.ts";
/** Clients that disconnect, and clients that do not read their answer (contract 4.4; rows SV-12, SV-13). */
import { Socket } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Answer, Path, Returns, body, clientGone, get, post } from "usher-http";
import type { Middleware, Route } from "usher-http";
import { makeCertificate } from "../../support/certificates.ts";
import { messages } from "../../support/logs.ts";
import { sockets } from "../../support/memory.ts";
import { clientOf, gate, start } from "../../support/node-server.ts";
import { RawClient, turns } from "../../support/raw-client.ts";
import { atSomeSpeed, eventually } from "../../support/eventually.ts";
import { secureSocket } from "../../support/secure-client.ts";
import { bytes, frame, handshake } from "./open-sockets.ts";

/** A stream that never ends by itself, and a record of its end. */
function endless(): { readonly route: Route; readonly ended: Promise<void> } {
  const ended = gate();
  async function* parts(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield Buffer.alloc(65_536);
    } finally {
      ended.open();
    }
  }
  return {
    ended: ended.passed,
    route: get(Path.of("endless"), { returns: Returns.response }, () => Answer.stream(parts())),
  };
}

const never = () => new Promise<string>(() => {});

describe("a client that disconnects: its handler", () => {
  it("has its stream ended", async () => {
    const { route, ended } = endless();
    const client = await clientOf([route]);
    client.ask("GET /endless");
    await client.sees("\r\n\r\n");
    client.leave();
    await ended;
    expect(messages("error")).toEqual([]);
  });

  it("sees clientGone abort after the disconnect and not before", async () => {
    const asked = gate<AbortSignal>();
    const waits = get(Path.of("waits"), { inputs: { clientGone }, returns: Returns.text }, ({ clientGone }) => {
      asked.open(clientGone);
      return new Promise<string>((resolve) => clientGone.addEventListener("abort", () => resolve("")));
    });
    const client = await clientOf([waits]);
    client.ask("GET /waits");
    const signal = await asked.passed;
    expect(signal.aborted).toBe(false);
    const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
    client.leave();
    await aborted;
  });

  it("sees clientGone abort also while its answer is sent", async () => {
    const gone = gate();
    const inputs = { clientGone };
    const half = get(Path.of("half"), { inputs, returns: Returns.response }, ({ clientGone }) => {
      clientGone.addEventListener("abort", () => gone.open());
      return Answer.make(Buffer.alloc(64 * 1024 * 1024));
    });
    const client = await clientOf([half]);
    client.ask("GET /half");
    await client.sees("\r\n\r\n");
    client.leave();
    expect(await gone.passed).toBeUndefined();
  });

  it("sees clientGone abort although it has read the body", async () => {
    const asked = gate();
    const gone = gate<boolean>();
    const waits = post(
      Path.of("waits"),
      { inputs: { body, clientGone }, returns: Returns.text },
      async ({ clientGone }) => {
        asked.open();
        await new Promise<void>((resolve) => clientGone.addEventListener("abort", () => resolve()));
        gone.open(clientGone.aborted);
        return "";
      },
    );
    const client = await clientOf([waits]);
    client.ask("POST /waits", [], "x");
    await asked.passed;
    client.leave();
    expect(await gone.passed).toBe(true);
  });
});

describe("a client that disconnects: pipelined answers", () => {
  it.each(["leave", "close"] as const)(
    "are not begun, and the one that is made sees clientGone abort: %s",
    async (how) => {
      const asked = gate();
      const told: string[] = [];
      const waits = (path: string) =>
        get(Path.of(path), { inputs: { clientGone }, returns: Returns.text }, ({ clientGone }) => {
          told.push(`${path} asked`);
          clientGone.addEventListener("abort", () => told.push(`${path} gone`));
          asked.open();
          return never();
        });
      const { port } = await start([waits("first"), waits("second")]);
      const client = await RawClient.to(port);
      client.ask("GET /first").ask("GET /second");
      await asked.passed;
      await turns(port);
      client[how]();
      await eventually(() => expect(told).toEqual(["first asked", "first gone"]));
    },
  );

  it("waiting for their turn leave nothing: no error, and no stream", async () => {
    const asked = gate();
    const first = gate();
    const ran: string[] = [];
    const { port } = await start([
      get(Path.of("first"), { returns: Returns.text }, async () => (asked.open(), await first.passed, "first")),
      get(Path.of("second"), { returns: Returns.text }, () => (ran.push("second"), "second")),
      post(Path.of("unread"), { returns: Returns.text }, () => (ran.push("unread"), "unread")),
    ]);
    const client = await RawClient.to(port);
    client.ask("GET /first").ask("GET /second").ask("POST /unread", ["transfer-encoding: chunked"]);
    await asked.passed;
    await turns(port);
    client.leave();
    await turns(port);
    first.open();
    await turns(port);
    expect([messages("error"), ran]).toEqual([[], []]);
  });

  it("that were sent before never see clientGone abort", async () => {
    const signals: AbortSignal[] = [];
    const keeps = get(
      Path.of("keeps"),
      { inputs: { clientGone }, returns: Returns.text },
      ({ clientGone }) => (signals.push(clientGone), "kept"),
    );
    const server = await start([keeps]);
    const client = await RawClient.to(server.port);
    expect((await client.ask("GET /keeps").answer()).body).toBe("kept");
    client.leave();
    await server.stop();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });
});

const big = Buffer.alloc(64 * 1024 * 1024, 0x78);

describe("a client that does not read its answer", () => {
  it("SV-12 is disconnected, and its connection is closed", async () => {
    await eventually(() => expect(sockets()).toBe(0));
    const client = await clientOf([get(Path.of("big"), { returns: Returns.response }, () => Answer.make(big))], {
      sendTimeoutMs: 100,
    });
    client.socket.pause();
    client.ask("GET /big");
    // The server's half-close is left, which the client does not read.
    await vi.waitFor(() => expect(sockets()).toBe(1), { timeout: waitMs() });
    expect(messages("info").at(-1)).toBe("closed a connection whose client stopped reading for 0.1s");
  });

  it("SV-12 is disconnected also from a stream, which ends", async () => {
    const { route, ended } = endless();
    const client = await clientOf([route], { sendTimeoutMs: 100 });
    client.socket.pause();
    client.ask("GET /endless");
    await ended;
    const said = [
      "GET /endless 200",
      "closed a connection whose client stopped reading for 0.1s",
      "stream on /endless ended: client stopped reading",
    ];
    await eventually(() => expect(messages("info").slice(1)).toEqual(said));
    expect(messages("error")).toEqual([]);
  });

  it.each(["whole", "stream"])("SV-12 is not a client whose answer waited behind another: %s", async (how) => {
    const { route, ended } = endless();
    const first = gate();
    const waits = get(Path.of("waits"), { returns: Returns.text }, async () => (await first.passed, "waited"));
    const whole = get(Path.of("big"), { returns: Returns.response }, () => Answer.make(big));
    const client = await clientOf([route, waits, whole], { sendTimeoutMs: 100 });
    const said = expect.stringMatching(/^closed a connection/);
    const closed = eventually(() => expect(messages("info")).toContainEqual(said));
    client.ask("GET /waits").ask(how === "whole" ? "GET /big" : "GET /endless");
    // The client is not late for an answer that is not ready, however long it takes.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(messages("info").filter((message) => String(message).startsWith("closed"))).toEqual([]);
    first.open();
    await client.sees("waited");
    client.socket.pause();
    await closed;
    if (how === "stream") await ended;
  });
});

describe("a client that does not read its answer and sends a byte from time to time", () => {
  const sendTimeoutMs = 100;
  const said = "closed a connection whose client stopped reading for 0.1s";

  /** A server skips it before a request (RFC 9112 §2.2). */
  const emptyLine = "\r\n";

  /** Sends repeatedly, until the test ends. */
  function sends(socket: Socket, bytes: string | Uint8Array): void {
    const timer = setInterval(() => socket.write(bytes), 10);
    onTestFinished(() => clearInterval(timer));
  }

  it.each(["GET /big", "GET /endless"])("is disconnected: %s", async (line) => {
    const whole = get(Path.of("big"), { returns: Returns.response }, () => Answer.make(big));
    const client = await clientOf([whole, endless().route], { sendTimeoutMs });
    client.socket.pause();
    client.ask(line);
    sends(client.socket, emptyLine);
    await eventually(() => expect(messages("info")).toContain(said));
  });

  it("is disconnected over TLS too", async () => {
    const { cert, key } = makeCertificate({ name: "localhost", hosts: ["localhost"] });
    const whole = get(Path.of("big"), { returns: Returns.response }, () => Answer.make(big));
    const { port } = await start([whole], { sendTimeoutMs, tls: { cert, key } });
    const socket = await secureSocket(port, { rejectUnauthorized: false });
    socket.pause().write("GET /big HTTP/1.1\r\nhost: h\r\n\r\n");
    sends(socket, emptyLine);
    await eventually(() => expect(messages("info")).toContain(said));
  });

  it("is disconnected from a WebSocket and from a takeover whose writes it does not read", async () => {
    const ended = gate<unknown>();
    const sending = get(Path.of("socket"), { returns: Returns.websocket(bytes) }, () => async (socket) => {
      for (;;) {
        const sent = await socket.send(big);
        if (!sent.ok) return ended.open(sent.error);
      }
    });
    const taken = get(Path.of("taken"), { returns: Returns.response }, () =>
      Answer.takeover("echo", async ({ readable, writable }) => {
        await readable.cancel();
        const writer = writable.getWriter();
        for (;;) await writer.write(big);
      }),
    );
    const { port } = await start([sending, taken], { sendTimeoutMs });
    for (const [path, headers] of [
      ["socket", handshake],
      ["taken", ["connection: upgrade", "upgrade: echo"]],
    ] as const) {
      const client = await RawClient.to(port);
      client.socket.pause();
      client.ask(`GET /${path}`, headers);
      // A pong: `ws` ends a connection with many pings.
      sends(client.socket, frame(0x8a, ""));
    }
    expect(await ended.passed).toEqual({ kind: "lost", detail: "nothing written was taken for 0.1s" });
    await eventually(() => expect(messages("info")).toContain("takeover on /taken ended: client stopped reading"));
  });
});

describe("a client that does not read the last answer of its connection", () => {
  const upgrade = ["connection: upgrade", "upgrade: echo"];
  const whole = () => Answer.make(big);

  it.each<readonly [what: string, line: string, headers: readonly string[], isBehind: boolean]>([
    ["an upgrade that is not taken", "GET /big", upgrade, false],
    ["one with a stream", "GET /endless", upgrade, false],
    ["one behind another request", "GET /big", upgrade, true],
    ["an upgrade that is ignored, behind another", "GET /text", upgrade, true],
    ["a CONNECT that middleware answers", "CONNECT h:80", [], false],
  ])("is disconnected, and this is logged once: %s", async (_what, line, headers, isBehind) => {
    await eventually(() => expect(sockets()).toBe(0));
    const routes = [
      endless().route,
      get(Path.of("big"), { returns: Returns.response }, whole),
      get(Path.of("text"), { returns: Returns.text }, () => "x".repeat(big.length)),
    ];
    const middleware: readonly Middleware[] = [
      async ({ method }, next) => (method === "CONNECT" ? new Response(big) : next()),
    ];
    const client = await clientOf(routes, { sendTimeoutMs: 100, middleware });
    if (isBehind) expect((await client.ask("HEAD /text").answer({ toHead: true })).status).toBe(200);
    client.ask(line, headers);
    await client.sees("\r\n\r\n");
    client.socket.pause();
    await eventually(() => expect(sockets()).toBe(1));
    expect(messages("info").filter((message) => String(message).startsWith("closed"))).toEqual([
      "closed a connection whose client stopped reading for 0.1s",
    ]);
  });
});

describe("a client that reads its answer late, but in time", () => {
  it("is closed without a log line when it has the whole answer and sends no further request", async () => {
    const quiet = get(Path.of("quiet"), { returns: Returns.text }, () => "quiet");
    // The idle time starts at the connection, so it may have expired before the request is read.
    await atSomeSpeed(async (factor) => {
      const client = await clientOf([quiet], { idleTimeoutMs: 100 * factor, sendTimeoutMs: 100 * factor });
      expect((await client.ask("GET /quiet").answer()).body).toBe("quiet");
      await client.closed();
    });
    expect(messages("info").filter((message) => String(message).startsWith("closed"))).toEqual([]);
  });

  // Each pause is far below the limit, and their sum is far above it.
  it.each(["whole", "stream"])("SV-13 gets the whole answer after a pause: %s", async (how) => {
    async function* parts() {
      for (let at = 0; at < big.length; at += 262_144) yield big.subarray(at, at + 262_144);
    }
    const route = get(Path.of("big"), { returns: Returns.response }, () =>
      how === "whole" ? Answer.make(big) : Answer.stream(parts(), { length: big.length }),
    );
    await atSomeSpeed(async (factor) => {
      const { port } = await start([route], { sendTimeoutMs: 700 * factor });
      const client = await RawClient.to(port);
      let taken = 0;
      let sinceRest = 0;
      client.socket.removeAllListeners("data").on("data", (part) => {
        taken += part.length;
        sinceRest += part.length;
        if (sinceRest < 4 * 1024 * 1024) return;
        sinceRest = 0;
        client.socket.pause();
        setTimeout(() => client.socket.resume(), 100 * factor);
      });
      client.ask("GET /big", ["connection: close"]);
      await new Promise((resolve) => client.socket.once("end", resolve).once("close", resolve));
      expect(taken).toBeGreaterThanOrEqual(big.length);
    });
  });

  it("has the full time for each chunk of a stream, also the last", async () => {
    let made = 0;
    let ahead = 0;
    async function* parts() {
      for (; made < big.length; made += 65_536) {
        ahead = Math.max(ahead, made - client.socket.bytesRead);
        yield big.subarray(made, made + 65_536);
      }
    }
    const route = get(Path.of("big"), { returns: Returns.response }, () => Answer.stream(parts()));
    const client = await clientOf([route]);
    client.discard();
    client.ask("GET /big", ["connection: close"]);
    await client.closed();
    expect(client.socket.bytesRead).toBeGreaterThanOrEqual(big.length);
    // The two systems buffer at most some 10 MiB together.
    expect(ahead).toBeLessThan(big.length / 2);
  });
});

it("a client that does not read the rest of a takeover is disconnected", async () => {
  await eventually(() => expect(sockets()).toBe(0));
  const timeouts = vi.spyOn(Socket.prototype, "setTimeout");
  const returned = gate();
  const writes = get(Path.of("writes"), { returns: Returns.response }, () =>
    Answer.takeover("echo", async ({ writable }) => {
      const taken = timeouts.mock.contexts.at(-1) as Socket;
      const writer = writable.getWriter();
      // Less than the time limit of a write.
      while (taken.writableLength === 0) await writer.write(new Uint8Array(1024));
      returned.open();
    }),
  );
  const client = await clientOf([writes], { sendTimeoutMs: 100 });
  client.socket.pause();
  client.ask("GET /writes", ["connection: upgrade", "upgrade: echo"]);
  await returned.passed;
  timeouts.mockRestore();
  await eventually(() => expect(sockets()).toBe(1));
});
