/**
 * Invalid request heads (facts 1.6, 8.1; rows SV-07, SV-09, LG-25, WR-15): refused without a body, logged, and closed. The
 * rows of invalid heads are in head-rows.test.ts.
 */
import { describe, expect, it, vi } from "vitest";
import { Path, Returns, get } from "usher-http";
import { logWith, logged, messages } from "../../support/logs.ts";
import { sockets } from "../../support/memory.ts";
import { clientOf, gate, holdClock, start } from "../../support/node-server.ts";
import { RawClient, header, turns } from "../../support/raw-client.ts";
import type { RawAnswer } from "../../support/raw-client.ts";
import { atSomeSpeed, eventually } from "../../support/eventually.ts";

const hello = get(Path.of("hello"), { returns: Returns.text }, () => "hi");

/** The refusal has no body and no id, only its framing and the date, and no bytes follow it. */
async function refuses(client: RawClient, status: number): Promise<RawAnswer> {
  const answered = await client.answer();
  expect([answered.status, answered.body, header(answered, "connection")]).toEqual([status, "", "close"]);
  expect([header(answered, "x-request-id"), header(answered, "content-type")]).toEqual([undefined, undefined]);
  expect(await client.rest()).toBe("");
  return answered;
}

describe("an invalid request head: the refusal", () => {
  it("LG-25 is logged at info, without an access line", async () => {
    await refuses((await clientOf([hello])).send("no request", "", ""), 400);
    const [listening, refused, ...more] = messages("info");
    expect([listening, more]).toEqual([expect.stringMatching(/^listening on /), []]);
    expect(refused).toMatch(/^refused a request head: 400 \S/);
    expect(logged().join("\n")).not.toContain("no request");
  });

  it("WR-15 reaches a client that is still sending", async () => {
    holdClock();
    const { port } = await start([hello]);
    const client = await RawClient.to(port);
    const reset = vi.fn();
    client.socket.on("error", reset);
    await refuses(client.send("no request", "", "x".repeat(32_768)), 400);
    // The server half-closed, which is no reset: it drops up to 64 KiB of what the client sends.
    client.send("x".repeat(16_384));
    await turns(port);
    client.socket.end("x".repeat(16_000));
    await new Promise((resolve) => client.socket.once("close", resolve));
    expect(reset).not.toHaveBeenCalled();
  });

  it.each([
    ["goes on and on", (client: RawClient) => client.socket.write(Buffer.alloc(1 << 20))],
    ["says nothing more, for a second", () => vi.advanceTimersByTime(2000)],
  ])("WR-15 is the end for a client that %s", async (_what, act) => {
    await eventually(() => expect(sockets()).toBe(0));
    holdClock();
    const client = await clientOf([hello]);
    await refuses(client.send("no request", "", ""), 400);
    expect(sockets()).toBe(2);
    act(client);
    await eventually(() => expect(sockets()).toBeLessThan(2));
  });

  it("after a valid request ends the connection, and the valid one is answered", async () => {
    const client = await clientOf([hello]);
    client.ask("GET /hello");
    expect((await client.answer()).body).toBe("hi");
    await refuses(client.send("no request", "", ""), 400);
  });
});

describe("an invalid request head: after others", () => {
  it("that Node accepts is refused in its turn, and nothing after it is read as a request", async () => {
    const asked = gate();
    const letGo = gate();
    const slow = get(
      Path.of("slow"),
      { returns: Returns.text },
      async () => (asked.open(), await letGo.passed, "slow"),
    );
    const { port } = await start([hello, slow]);
    const client = await RawClient.to(port);
    client.ask("GET /slow").send("GET /hello HTTP/1.1", "host: h", "host: g", "", "").ask("GET /hello");
    await asked.passed;
    await turns(port);
    letGo.open();
    expect((await client.answer()).body).toBe("slow");
    await refuses(client, 400);
    expect(messages("info").filter((message) => message === "GET /hello 200")).toEqual([]);
  });

  it.each([
    ["of a known length", ["content-length: 20000"], "x".repeat(20_000)],
    ["in chunks", ["transfer-encoding: chunked"], `4e20\r\n${"x".repeat(20_000)}\r\n0\r\n\r\n`],
    ["that is still to come", ["content-length: 20000"], ""],
    ["that is asked for", ["content-length: 20000", "expect: 100-continue"], ""],
  ])("that Node accepts is refused whatever its body: %s", async (_what, framing, body) => {
    holdClock();
    const { port } = await start([hello]);
    const client = await RawClient.to(port);
    const reset = vi.fn();
    client.socket.on("error", reset);
    await refuses(client.send("POST /hello HTTP/1.1", "host: a b", ...framing, "", body), 400);
    client.send("x".repeat(10_000));
    await turns(port);
    client.socket.end();
    await new Promise((resolve) => client.socket.once("close", resolve));
    expect(reset).not.toHaveBeenCalled();
  });

  it("an unknown expectation is not an invalid head", async () => {
    const client = await clientOf([hello]);
    expect((await client.ask("GET /hello", ["expect: tea"]).answer()).body).toBe("hi");
    expect((await client.ask("GET /hello").answer()).body).toBe("hi");
  });
});

const long = "a".repeat(3000);
const before: { readonly [what: string]: string } = {
  "as the first": "",
  "behind another": "GET /hello HTTP/1.1\r\nhost: h\r\n\r\n",
};

describe("a head above the size limit, in pieces: each", () => {
  const heads: { readonly [what: string]: readonly [status: number, head: string] } = {
    "a request line": [414, `GET /${long} HTTP/1.1\r\nhost: h\r\n\r\n`],
    "a request line of another method": [414, `M-SEARCH /${long} HTTP/1.1\r\nhost: h\r\n\r\n`],
    "a request line that would be refused": [414, `GET http://u@h/${long} HTTP/1.1\r\n\r\n`],
    "a request line of another version": [414, `GET /${long} HTTP/3.0\r\nhost: h\r\n\r\n`],
    "empty lines, and a request line": [414, `\r\n\r\nGET /${long} HTTP/1.1\r\nhost: h\r\n\r\n`],
    "a field": [431, `GET /hello HTTP/1.1\r\nhost: h\r\nx: ${long}\r\n\r\n`],
    "a field's name": [431, `GET /hello HTTP/1.1\r\nhost: h\r\n${long}: x\r\n\r\n`],
    "a field like a request line": [431, `GET /hello HTTP/1.1\r\nhost: h\r\nx: GET /${long} HTTP\r\n\r\n`],
    "a field behind a line of nearly as much": [
      431,
      `GET /${"a".repeat(900)} HTTP/1.1\r\nhost: h\r\nx: ${"b".repeat(400)}\r\n\r\n`,
    ],
    "many fields": [431, `GET /hello HTTP/1.1\r\nhost: h\r\n${"x: 1\r\n".repeat(600)}\r\n`],
  };
  // The pieces are packets: each is sent before the next, and the version is cut at every byte.
  const cuts: readonly (readonly number[])[] = [
    [1],
    [3],
    [4],
    [500],
    [1200],
    [1030, 1040, 1050],
    [100, 200, 400, 800, 1600, 2400],
    ...Array.from({ length: 14 }, (_, i) => [1500, 3000 + i]),
  ];
  const rows = Object.keys(heads).flatMap((what) => Object.keys(before).map((where) => [what, where] as const));
  it.each(rows)("%s is refused as it would be in one piece: %s", async (what, where) => {
    // Node waits a second for the end of a line, and a busy machine makes two pieces of that.
    holdClock();
    const { port } = await start([hello], { maxHeaderBytes: 1024 });
    const [status, head] = heads[what] as (typeof heads)[string];
    for (const at of cuts) {
      const client = await RawClient.to(port);
      client.socket.setNoDelay(true);
      if (before[where] !== "") expect((await client.send(before[where] as string).answer()).body).toBe("hi");
      for (const [i, cut] of at.entries()) {
        await new Promise((resolve) => client.socket.write(head.slice(i === 0 ? 0 : at[i - 1], cut), resolve));
        await turns(port);
      }
      client.send(head.slice(at.at(-1)));
      expect([at, (await refuses(client, status)).status]).toEqual([at, status]);
    }
  });
});

describe("a head above the size limit, in pieces: while it arrives", () => {
  const acts: { readonly [what: string]: (client: RawClient) => unknown } = {
    "is told after a second what it was": () => vi.advanceTimersByTime(2000),
    "is told when its client ends its side": (client) => client.halfClose(),
    "is told once 64 KiB more of it have come": (client) => client.send("a".repeat(70_000)),
  };
  const lines: { readonly [what: string]: readonly [status: number, line: string] } = {
    "a request line": [414, `GET /${"a".repeat(600)}`],
    "a request line of another method": [414, `M-SEARCH /?${"a=b&".repeat(150)}`],
    "a field": [431, `GET / HTTP/1.1\r\nhost: h\r\nx: ${"a ".repeat(300)}`],
  };
  const rows = Object.keys(lines).flatMap((line) => Object.keys(acts).map((act) => [line, act] as const));
  it.each(rows)("%s that does not end %s", async (line, act) => {
    holdClock();
    const { port } = await start([hello], { maxHeaderBytes: 1024 });
    const client = await RawClient.to(port);
    const [status, begin] = lines[line] as (typeof lines)[string];
    await new Promise((resolve) => client.socket.write(begin, resolve));
    await turns(port);
    await new Promise((resolve) => client.socket.write(begin.slice(-2).repeat(300), resolve));
    await turns(port);
    expect(messages("info").filter((line) => String(line).startsWith("refused"))).toEqual([]);
    acts[act]?.(client);
    await refuses(client, status);
  });

  it("is refused once, after the pending answers before it, however long they take", async () => {
    holdClock();
    const letGo = gate();
    const slow = get(Path.of("slow"), { returns: Returns.text }, async () => (await letGo.passed, "slow"));
    const { port } = await start([slow], { maxHeaderBytes: 1024 });
    const client = await RawClient.to(port);
    client.ask("GET /slow").send(`GET /${"a".repeat(600)}`);
    await turns(port);
    client.send("a".repeat(600));
    await turns(port);
    client.send(`${"a".repeat(600)} HTTP/1.1`, "host: h", "", "");
    await turns(port);
    vi.advanceTimersByTime(2000);
    letGo.open();
    expect((await client.answer()).body).toBe("slow");
    await refuses(client, 414);
    const refused = messages("info").filter((line) => String(line).startsWith("refused"));
    expect(refused).toEqual([expect.stringMatching(/^refused a request head: 414 /)]);
  });
});

describe("a head above the size limit, in pieces: its time limit", () => {
  it("has expired meanwhile, and the head is refused once, for its size", async () => {
    // The time limit of a connection follows the fake clock, and that of a head is Node's own.
    holdClock();
    const { port } = await start([hello], { maxHeaderBytes: 1024, headTimeoutMs: 50 });
    const late = await RawClient.to(port);
    const client = await RawClient.to(port);
    // In one write: between two writes, the time limit of the head could expire.
    await new Promise((resolve) => client.socket.write(`GET /${"a".repeat(1200)}`, resolve));
    await turns(port);
    // A head that began after it, and was checked since.
    await refuses(late.send("GET /hello HTTP/1.1\r\nho"), 408);
    await refuses(client.send(" HTTP/1.1", "host: h", "", ""), 414);
    expect(messages("info").filter((line) => String(line).startsWith("refused"))).toHaveLength(2);
  });
});

describe("a head that exceeds its time limit is a 408", () => {
  it.each([
    ["the first word", "GET"],
    ["half a head", "GET /hello HTTP/1.1\r\nhost: h\r\nx: "],
  ])("%s", async (_what, text) => {
    await refuses((await clientOf([hello], { headTimeoutMs: 100 })).send(text), 408);
    expect(messages("info").at(-1)).toMatch(/^refused a request head: 408 /);
  });

  it("also the second head of a connection", async () => {
    const client = await clientOf([hello], { headTimeoutMs: 100 });
    expect((await client.ask("GET /hello").answer()).body).toBe("hi");
    await refuses(client.send("GET /hello HTTP/1.1\r\nhost"), 408);
  });

  it("also after a pending answer, and its later bytes are not read as a request", async () => {
    const letGo = gate();
    const ran = vi.fn(() => "hi");
    const routes = [
      get(Path.of("slow"), { returns: Returns.text }, async () => (await letGo.passed, "slow")),
      get(Path.of("hello"), { returns: Returns.text }, ran),
    ];
    const { port } = await start(routes, { headTimeoutMs: 50 });
    const client = await RawClient.to(port);
    client.ask("GET /slow").send("GET /hello HTTP/1.1\r\nho");
    await turns(port);
    // A head that began after it.
    await refuses((await RawClient.to(port)).send("GET /hello HTTP/1.1\r\nho"), 408);
    client.send("st: h", "", "");
    await turns(port);
    letGo.open();
    expect((await client.answer()).body).toBe("slow");
    await refuses(client, 408);
    expect(ran).not.toHaveBeenCalled();
  });
});

describe("a connection without a head", () => {
  it("a client that sends no further request is closed without a response", async () => {
    await atSomeSpeed(async (factor) => {
      const client = await clientOf([hello], { headTimeoutMs: 50 * factor, idleTimeoutMs: 200 * factor });
      expect((await client.ask("GET /hello").answer()).body).toBe("hi");
      expect(await client.rest()).toBe("");
    });
  });

  it("SV-09 a client that never sends a byte is closed without a response after the idle time", async () => {
    const { port } = await start([hello], { headTimeoutMs: 50, idleTimeoutMs: 400 });
    const startedAt = performance.now();
    const client = await RawClient.to(port);
    expect(await client.rest()).toBe("");
    // Timers may fire a little early, and a slow machine late.
    expect(performance.now() - startedAt).toBeGreaterThan(350);
    expect(messages("info")).toEqual([expect.stringMatching(/^listening/)]);
  });

  it("a client that sends only line ends, after the time of a head, is closed after the idle time", async () => {
    const { port } = await start([hello], { headTimeoutMs: 50, idleTimeoutMs: 200 });
    const client = await RawClient.to(port);
    // Another head, begun later, is refused: the time of the first has passed.
    await refuses((await RawClient.to(port)).send("GET /hello HTTP/1.1\r\nho"), 408);
    client.send("", "");
    expect(await client.rest()).toBe("");
  });
});

describe("the time limit of a head", () => {
  it("starts at the first byte, however long the client waited before", async () => {
    const { port } = await start([hello], { headTimeoutMs: 100 });
    const [client, other] = [await RawClient.to(port), await RawClient.to(port)];
    // A head that began after both had connected.
    await refuses((await RawClient.to(port)).send("GET /hello HTTP/1.1\r\nho"), 408);
    const startedAt = performance.now();
    await refuses(client.send("GET /hello HTTP/1.1\r\nho"), 408);
    // Timers may fire a little early.
    expect(performance.now() - startedAt).toBeGreaterThan(80);
    expect((await other.ask("GET /hello").answer()).body).toBe("hi");
  });

  it("is its own, and not that of an idle connection", async () => {
    await atSomeSpeed(async (factor) => {
      const { port } = await start([hello], { headTimeoutMs: 600_000, idleTimeoutMs: 100 * factor });
      const client = await RawClient.to(port);
      client.send("GET /hello HTTP/1.1", "host");
      await new Promise((resolve) => setTimeout(resolve, 400 * factor));
      expect((await client.send(": h", "", "").answer()).body).toBe("hi");
    });
  });
});

describe("a head that is too long is a 431", () => {
  it("in one piece or in many", async () => {
    for (const pieces of [1, 5]) {
      logWith({});
      const { port } = await start([hello], { maxHeaderBytes: 1024 });
      const client = await RawClient.to(port);
      client.send("GET /hello HTTP/1.1", "host: h", "x: ");
      for (let i = 0; i < pieces; i++) {
        await turns(port);
        client.send("a".repeat(2000 / pieces));
      }
      await refuses(client.send("", "", ""), 431);
      expect(
        messages("info").filter((message) => String(message).startsWith("refused a request head: 431 ")),
      ).toHaveLength(1);
    }
  });

  it("up to the limit it is read, with all its fields", async () => {
    const fields = Array.from({ length: 1500 }, (_, i) => `x-${i}: 1`);
    const client = await clientOf([hello], { maxHeaderBytes: 65_536 });
    expect((await client.ask("GET /hello", [...fields, "x-last: 1"]).answer()).status).toBe(200);
  });
});
