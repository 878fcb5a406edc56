/** Answers on the wire: streams, big ones, clients that take none of it (facts 4.4; rows AN-21 to AN-25, SV-12, SV-13). */
import { describe, expect, it, vi } from "vitest";
import { Answer, Path, Returns, clientGone, get, post } from "usher-http";
import type { Route } from "usher-http";
import { messages } from "../../support/logs.ts";
import { clientOf, gate, start } from "../../support/node-server.ts";
import { RawClient, header } from "../../support/raw-client.ts";

const ok = get(Path.of("ok"), { returns: Returns.text }, () => "ok");

/** A stream of these texts, with what became of it. */
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

/** A stream that never ends of itself, with the end that it comes to. */
function endless(): { readonly route: Route; readonly ended: Promise<void> } {
  const ended = gate();
  async function* parts(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield Buffer.alloc(65_536);
    } finally {
      ended.open();
    }
  }
  return { ended: ended.passed, route: get(Path.of("endless"), { returns: Returns.response }, () => Answer.stream(parts())) };
}

describe("a stream", () => {
  it("AN-24 with no length is chunked, and the connection kept", async () => {
    const { route } = streams(["a", "é", "bc"]);
    const client = await clientOf([route, ok]);
    const answered = await client.ask("GET /stream").answer();
    expect([answered.status, answered.body, header(answered, "transfer-encoding"), header(answered, "content-length")]).toEqual([200, "aébc", "chunked", undefined]);
    expect((await client.ask("GET /ok").answer()).body).toBe("ok");
  });

  it("AN-18 has its head's names in lower case, too", async () => {
    const client = await clientOf([streams(["a"]).route]);
    const { head } = await client.ask("GET /stream").answer();
    expect(head.map(([name]) => name)).toEqual(["content-type", "x-request-id", "date", "transfer-encoding"]);
  });

  it("AN-24 of no parts, or of empty ones, ends like any other", async () => {
    for (const texts of [[], ["", "", ""], ["a", "", "b"]]) {
      const client = await clientOf([streams(texts).route, ok]);
      expect((await client.ask("GET /stream").answer()).body).toBe(texts.join(""));
      expect((await client.ask("GET /ok").answer()).body).toBe("ok");
    }
  });

  it("AN-21 with a length is framed by it, and the connection kept", async () => {
    const client = await clientOf([streams(["hel", "lo"], { length: 5 }).route, ok]);
    const answered = await client.ask("GET /stream").answer();
    expect([answered.body, header(answered, "content-length"), header(answered, "transfer-encoding")]).toEqual(["hello", "5", undefined]);
    expect((await client.ask("GET /ok").answer()).body).toBe("ok");
  });

  it("AN-22 that falls short of its length ends the connection, and no other answer follows", async () => {
    const client = await clientOf([streams(["hi"], { length: 5 }).route, ok]);
    expect(await client.ask("GET /stream").ask("GET /ok").rest()).toMatch(/content-length: 5\r\n\r\nhi$/);
    expect(messages("error")).toEqual([expect.stringMatching(/^stream on \/stream.*length/)]);
  });

  it("AN-22 that goes past its length is cut there, and ends the connection", async () => {
    const { route, told } = streams(["hel", "lo, you", "there"], { length: 5 });
    const client = await clientOf([route, ok]);
    expect(await client.ask("GET /stream").ask("GET /ok").rest()).toMatch(/content-length: 5\r\n\r\nhello$/);
    expect(messages("error")).toEqual([expect.stringMatching(/^stream on \/stream.*length/)]);
    await vi.waitFor(() => expect(told.ended).toBe(true));
  });

  it("that raises ends the connection with no last chunk, and its words are nowhere", async () => {
    const client = await clientOf([streams(["part", new Error("s3cret")]).route, ok]);
    const wire = await client.ask("GET /stream").ask("GET /ok").rest();
    expect(wire).toMatch(/\r\n\r\n4\r\npart\r\n$/);
    expect(messages("error")).toEqual([expect.stringMatching(/^stream on \/stream failed/)]);
    expect(wire + messages("error").join()).not.toContain("s3cret");
  });

  it("AN-25 to HTTP/1.0 has no coding, and ends with the connection", async () => {
    const client = await clientOf([streams(["a", "b"]).route]);
    const answered = await client.send("GET /stream HTTP/1.0", "connection: keep-alive", "", "").answer();
    expect([answered.body, header(answered, "transfer-encoding"), header(answered, "connection")]).toEqual(["ab", undefined, "close"]);
  });

  it("sends its head before its first part is made", async () => {
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

  it("of a HEAD is never begun; the connection is kept", async () => {
    for (const options of [{}, { length: 5 }]) {
      const { route, told } = streams(["hello"], options);
      const client = await clientOf([route, ok]);
      const answered = await client.ask("HEAD /stream").answer({ toHead: true });
      expect([answered.status, header(answered, "content-length")]).toEqual([200, options.length === undefined ? undefined : "5"]);
      expect((await client.ask("GET /ok").answer()).body).toBe("ok");
      expect(told.begun).toBe(false);
    }
  });

  it("reaches a client whose body nobody read, whole", async () => {
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

describe("a client that leaves", () => {
  it("ends the stream that was for it", async () => {
    const { route, ended } = endless();
    const client = await clientOf([route]);
    client.ask("GET /endless");
    await client.sees("\r\n\r\n");
    client.leave();
    await ended;
    expect(messages("error")).toEqual([]);
  });

  it("is told by clientGone, once it left and not before", async () => {
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

  it("after its answer has gone nowhere: clientGone never says so", async () => {
    const signals: AbortSignal[] = [];
    const keeps = get(Path.of("keeps"), { inputs: { clientGone }, returns: Returns.text }, ({ clientGone }) => (signals.push(clientGone), "kept"));
    const server = await start([keeps]);
    const client = await RawClient.to(server.port);
    expect((await client.ask("GET /keeps").answer()).body).toBe("kept");
    client.leave();
    await server.stop();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });
});

describe("a client that takes nothing of its answer", () => {
  const big = Buffer.alloc(64 * 1024 * 1024, 0x78);

  it("SV-12 is cut off, and its connection is free", async () => {
    const gone = gate();
    const bigger = get(Path.of("big"), { inputs: { clientGone }, returns: Returns.response }, ({ clientGone }) => {
      clientGone.addEventListener("abort", () => gone.open());
      return Answer.make(big);
    });
    const client = await clientOf([bigger], { sendTimeoutMs: 100 });
    client.socket.pause();
    client.ask("GET /big");
    await gone.passed;
  });

  it("SV-12 a stream's, too: it is ended", async () => {
    const { route, ended } = endless();
    const client = await clientOf([route], { sendTimeoutMs: 100 });
    client.socket.pause();
    client.ask("GET /endless");
    await ended;
    expect(messages("error")).toEqual([]);
  });

  // Each pause is far inside the limit and all of them are far past it.
  it.each(["whole", "stream"])("SV-13 for a while, and then takes more, gets all of it: %s", async (how) => {
    async function* parts() {
      for (let at = 0; at < big.length; at += 262_144) yield big.subarray(at, at + 262_144);
    }
    const route = get(Path.of("big"), { returns: Returns.response }, () => (how === "whole" ? Answer.make(big) : Answer.stream(parts(), { length: big.length })));
    const { port } = await start([route], { sendTimeoutMs: 700 });
    const client = await RawClient.to(port);
    client.socket.removeAllListeners("data").pause();
    client.ask("GET /big");
    let taken = 0;
    let sinceRest = 0;
    client.socket.on("data", (part) => {
      taken += part.length;
      sinceRest += part.length;
      if (sinceRest < 4 * 1024 * 1024) return;
      sinceRest = 0;
      client.socket.pause();
      setTimeout(() => client.socket.resume(), 100);
      if (taken >= big.length) client.leave();
    });
    await new Promise((resolve) => client.socket.once("close", resolve));
    expect(taken).toBeGreaterThanOrEqual(big.length);
  });
});
