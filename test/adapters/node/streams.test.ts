/** Streams on the wire (facts 4.4; rows AN-18, AN-21 to AN-25). */
import { describe, expect, it, onTestFinished } from "vitest";
import { Answer, Event, Path, Returns, Socket, clientGone, get, post } from "usher-http";
import { messages } from "../../support/logs.ts";
import { clientOf, gate, start } from "../../support/node-server.ts";
import { RawClient, header } from "../../support/raw-client.ts";
import { eventually } from "../../support/eventually.ts";

const ok = get(Path.of("ok"), { returns: Returns.text }, () => "ok");

/** A stream of these texts, with a record of its end. */
function streams(texts: readonly (string | Error)[], options: { readonly length?: number } = {}) {
  const told = { begun: false, ended: false };
  async function* parts(): AsyncGenerator<Uint8Array> {
    told.begun = true;
    try {
      for (const text of texts) {
        if (text instanceof Error) throw text;
        yield Buffer.from(text);
      }
    } finally {
      told.ended = true;
    }
  }
  const route = get(Path.of("stream"), { returns: Returns.response }, () => Answer.stream(parts(), options));
  return { told, route };
}

describe("a stream: framing", () => {
  it("AN-24 without a length is chunked, and the connection is kept", async () => {
    const { route } = streams(["a", "é", "bc"]);
    const client = await clientOf([route, ok]);
    const answered = await client.ask("GET /stream").answer();
    expect([
      answered.status,
      answered.body,
      header(answered, "transfer-encoding"),
      header(answered, "content-length"),
    ]).toEqual([200, "aébc", "chunked", undefined]);
    expect((await client.ask("GET /ok").answer()).body).toBe("ok");
  });

  it("AN-18 has the header names of its head in lower case, too", async () => {
    const client = await clientOf([streams(["a"]).route]);
    const { head } = await client.ask("GET /stream").answer();
    expect(head.map(([name]) => name)).toEqual(["content-type", "x-request-id", "date", "transfer-encoding"]);
  });

  it("AN-24 of no chunks, or of empty ones, ends normally", async () => {
    for (const texts of [[], ["", "", ""], ["a", "", "b"]]) {
      const client = await clientOf([streams(texts).route, ok]);
      expect((await client.ask("GET /stream").answer()).body).toBe(texts.join(""));
      expect((await client.ask("GET /ok").answer()).body).toBe("ok");
    }
  });

  it("AN-21 with a length has Content-Length, and the connection is kept", async () => {
    const client = await clientOf([streams(["hel", "lo"], { length: 5 }).route, ok]);
    const answered = await client.ask("GET /stream").answer();
    expect([answered.body, header(answered, "content-length"), header(answered, "transfer-encoding")]).toEqual([
      "hello",
      "5",
      undefined,
    ]);
    expect((await client.ask("GET /ok").answer()).body).toBe("ok");
  });

  it("AN-22 that is shorter than its length ends the connection, and no other answer follows", async () => {
    const client = await clientOf([streams(["hi"], { length: 5 }).route, ok]);
    expect(await client.ask("GET /stream").ask("GET /ok").rest()).toMatch(/content-length: 5\r\n\r\nhi$/);
    expect(messages("error")).toEqual([expect.stringMatching(/^stream on \/stream.*length/)]);
  });

  it("AN-22 that is longer than its length is cut off there, and ends the connection", async () => {
    const { route, told } = streams(["hel", "lo, you", "there"], { length: 5 });
    const client = await clientOf([route, ok]);
    expect(await client.ask("GET /stream").ask("GET /ok").rest()).toMatch(/content-length: 5\r\n\r\nhello$/);
    expect(messages("error")).toEqual([expect.stringMatching(/^stream on \/stream.*length/)]);
    await eventually(() => expect(told.ended).toBe(true));
  });
});

describe("a stream: beginning and end", () => {
  it("that throws ends the connection without a last chunk, and its error message is not sent", async () => {
    const client = await clientOf([streams(["part", new Error("s3cret")]).route, ok]);
    const wire = await client.ask("GET /stream").ask("GET /ok").rest();
    expect(wire).toMatch(/\r\n\r\n4\r\npart\r\n$/);
    expect(messages("error")).toEqual([expect.stringMatching(/^stream on \/stream failed/)]);
    expect(wire + messages("error").join()).not.toContain("s3cret");
  });

  it("AN-25 to HTTP/1.0 has no transfer coding, and ends with the connection", async () => {
    const client = await clientOf([streams(["a", "b"]).route]);
    const answered = await client.send("GET /stream HTTP/1.0", "connection: keep-alive", "", "").answer();
    expect([answered.body, header(answered, "transfer-encoding"), header(answered, "connection")]).toEqual([
      "ab",
      undefined,
      "close",
    ]);
  });

  it("sends its head before its first chunk is generated", async () => {
    const first = gate();
    async function* parts() {
      await first.passed;
      yield Buffer.from("a");
    }
    const client = await clientOf([get(Path.of("s"), { returns: Returns.response }, () => Answer.stream(parts()))]);
    client.ask("GET /s");
    await client.sees("\r\n\r\n");
    first.open();
    expect((await client.answer()).body).toBe("a");
  });

  it("is never started for a HEAD; the connection is kept", async () => {
    for (const options of [{}, { length: 5 }]) {
      const { route, told } = streams(["hello"], options);
      const client = await clientOf([route, ok]);
      const answered = await client.ask("HEAD /stream").answer({ toHead: true });
      expect([answered.status, header(answered, "content-length")]).toEqual([
        200,
        options.length === undefined ? undefined : "5",
      ]);
      expect((await client.ask("GET /ok").answer()).body).toBe("ok");
      expect(told.begun).toBe(false);
    }
  });

  it("reaches a client whole although the request's body was not read", async () => {
    const body = "x".repeat(60_000);
    const parts = Array.from({ length: 50 }, () => "y".repeat(10_000));
    async function* make() {
      for (const part of parts) yield Buffer.from(part);
    }
    const client = await clientOf([post(Path.of("s"), { returns: Returns.response }, () => Answer.stream(make()))]);
    const answered = await client.ask("POST /s", [], body).answer();
    expect(answered.body).toBe(parts.join(""));
  });
});

/** The process warnings of Node during a test. */
function saidByNode(): readonly Error[] {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on("warning", onWarning);
  onTestFinished(() => void process.off("warning", onWarning));
  return warnings;
}

it("no handler of a request starts whose client disconnects before its turn", async () => {
  const started: string[] = [];
  const asked = gate();
  const left = gate();
  const first = get(Path.of("first"), { inputs: { clientGone }, returns: Returns.text }, async (given) => {
    started.push("first");
    asked.open();
    await new Promise((resolve) => given.clientGone.addEventListener("abort", resolve));
    left.open();
    return "first";
  });
  const second = get(Path.of("second"), { returns: Returns.text }, () => (started.push("second"), "second"));
  const server = await start([first, second]);
  const client = await RawClient.to(server.port);
  client.ask("GET /first").ask("GET /second");
  await asked.passed;
  client.leave();
  await left.passed;
  await server.stop();
  expect(started).toEqual(["first"]);
});

it("many concurrent sends add one listener, so Node warns about nothing", async () => {
  const warnings = saidByNode();
  const sent = gate<readonly boolean[]>();
  const floods = get(Path.of("s"), { returns: Returns.events([]) }, () => async (send) => {
    const waiting = Array.from({ length: 200 }, (_, i) => send(Event.comment(`${i} ${"x".repeat(100_000)}`)));
    sent.open((await Promise.all(waiting)).map(({ ok }) => ok));
  });
  const client = await clientOf([floods]);
  client.ask("GET /s");
  client.socket.pause();
  await new Promise((resolve) => setTimeout(resolve, 50));
  client.socket.resume();
  const { body } = await client.answer();
  expect(body.match(/^: \d+/gm)?.map((line) => Number(line.slice(2)))).toEqual(
    Array.from({ length: 200 }, (_, i) => i),
  );
  expect(new Set(await sent.passed)).toEqual(new Set([true]));
  expect(warnings).toEqual([]);
});

it("each wait for space ends, also if Node has removed its own listeners from the connection", async () => {
  const warnings = saidByNode();
  async function* parts(): AsyncGenerator<Uint8Array> {
    for (let i = 0; i < 30; i++) yield Buffer.alloc(1_000_000, 0x78);
  }
  const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
  const client = await clientOf([
    get(Path.of("long"), { returns: Returns.response }, () => Answer.stream(parts())),
    get(Path.of("socket"), { returns: Returns.websocket(texts) }, () => async () => {}),
  ]);
  client
    .ask("GET /long")
    .ask("GET /socket", [
      "upgrade: websocket",
      "connection: Upgrade",
      "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
      "sec-websocket-version: 13",
    ]);
  expect((await client.answer()).body.length).toBe(30_000_000);
  expect((await client.answer()).status).toBe(101);
  expect(warnings).toEqual([]);
});
