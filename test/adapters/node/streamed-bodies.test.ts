/** Bodies that a handler reads while they arrive on a network socket (facts 5.5, 8.2; rows BS). */
import { describe, expect, it, vi } from "vitest";
import { Answer, Body, Path, Returns, bodyStream, clientGone, get, post } from "usher-http";
import type { Awaitable, Route } from "usher-http";
import { messages } from "../../support/logs.ts";
import { clientOf, gate, holdClock, start } from "../../support/node-server.ts";
import { RawClient, header, turns } from "../../support/raw-client.ts";
import type { RawAnswer } from "../../support/raw-client.ts";
import { busy, tooLarge, unreadable } from "../../support/refusals.ts";

const upload = bodyStream({ max: 1 << 30 });
const reads = (handler: (body: Body) => Awaitable<string>): Route =>
  post(Path.of("upload"), { inputs: { upload }, returns: Returns.text }, ({ upload }) => handler(upload));
/** The number of bytes, read to the end. */
const counted = reads(async (body) => {
  let bytes = 0;
  for await (const part of body) bytes += part.byteLength;
  return `${bytes} bytes`;
});
const ok = get(Path.of("ok"), { returns: Returns.text }, () => "ok");

const chunked = "transfer-encoding: chunked";
const heads = (...headers: readonly string[]) => ["POST /upload HTTP/1.1", "host: h", ...headers, "", ""].join("\r\n");
const chunk = (bytes: string) => `${bytes.length.toString(16)}\r\n${bytes}\r\n`;
const lastChunk = "0\r\n\r\n";
const most = 65_536;
const byLength = (bytes: string) => heads(`content-length: ${bytes.length}`) + bytes;
const inChunks = (bytes: string) => heads(chunked) + chunk(bytes) + lastChunk;
const ways = [
  ["by its length", byLength],
  ["in chunks", inChunks],
] as const;

describe("a body that is read as a stream: chunks", () => {
  it.each(ways)("BS-01 arrives whole, %s, and the connection stays open", async (_how, posted) => {
    const client = await clientOf([counted, ok]);
    for (const bytes of [1, 16_384, most, 3 * most, 50 * most]) {
      const answered = await client.send(posted("x".repeat(bytes))).answer();
      expect([answered.body, header(answered, "connection")]).toEqual([`${bytes} bytes`, undefined]);
    }
    expect((await client.ask("GET /ok").answer()).body).toBe("ok");
  });

  it("BS-01 has chunks of at most 64 KiB, each read when it arrives", async () => {
    const parts: string[] = [];
    const first = gate();
    const route = reads(async (body) => {
      for await (const part of body) {
        parts.push(Buffer.from(part).toString());
        first.open();
      }
      return "";
    });
    const client = await clientOf([route]);
    client.send(heads(chunked) + chunk("first"));
    await first.passed;
    const more = "x".repeat(3 * most);
    client.send(chunk(more) + chunk("last") + lastChunk);
    await client.answer();
    expect([parts[0], parts.join("") === `first${more}last`]).toEqual(["first", true]);
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(most);
  });

  it("is not read ahead of its handler by more than the buffers of Node and the kernel", async () => {
    const begun = gate();
    const goOn = gate();
    const client = await clientOf([
      reads(async (body) => {
        await body.read();
        begun.open();
        await goOn.passed;
        let bytes = 0;
        for await (const part of body) bytes += part.byteLength;
        return bytes > 0 ? "all" : "none";
      }),
    ]);
    const pieces = 2048;
    client.send(heads(`content-length: ${pieces * most}`));
    const piece = Buffer.alloc(most);
    let sent = 0;
    const sending = (async () => {
      for (; sent < pieces; sent++) await new Promise((resolve) => client.socket.write(piece, resolve));
    })();
    await begun.passed;
    // Until all buffers are full: 128 MiB are more than any kernel holds.
    for (let before = -1; before !== sent;) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(sent).toBeLessThan(pieces / 2);
    goOn.open();
    expect((await client.answer()).body).toBe("all");
    await sending;
  });

  it.each(["arrives", "does not arrive"])(
    "whose short rest %s after the end of its streamed answer: the connection stays open, for the time of a body",
    async (how) => {
      holdClock();
      const begun = post(Path.of("begun"), { inputs: { upload }, returns: Returns.response }, async ({ upload }) => {
        const read = await upload.read();
        async function* parts() {
          if (read.ok) yield read.value ?? Buffer.of();
        }
        return Answer.stream(parts());
      });
      const client = await clientOf([begun, ok]);
      client.send("POST /begun HTTP/1.1", "host: h", "content-length: 10", "", "12345");
      const answered = await client.answer();
      expect([answered.body, header(answered, "connection")]).toEqual(["12345", undefined]);
      if (how === "arrives") {
        client.send("67890").ask("GET /ok");
        expect((await client.answer()).body).toBe("ok");
      } else {
        vi.advanceTimersByTime(21_000);
        await client.closed();
      }
    },
  );
});

describe("a body that is read as a stream: several", () => {
  it("several concurrent ones belong to their own requests", async () => {
    const { port } = await start([counted]);
    const clients = await Promise.all(Array.from({ length: 8 }, () => RawClient.to(port)));
    for (const [i, client] of clients.entries()) client.send(heads(chunked) + chunk("x".repeat(i + 1)));
    for (const [i, client] of clients.entries()) client.send(chunk("y".repeat(i * most + 1)) + lastChunk);
    const bodies = await Promise.all(clients.map(async (client) => (await client.answer()).body));
    expect(bodies).toEqual(clients.map((_, i) => `${i * most + i + 2} bytes`));
  });

  it("pipelined ones belong to their own requests", async () => {
    const client = await clientOf([counted, ok]);
    client.ask("POST /upload", [], "one").ask("GET /ok").send(inChunks("three")).ask("POST /upload", [], "fo");
    const bodies = [];
    for (let i = 0; i < 4; i++) bodies.push((await client.answer()).body);
    expect(bodies).toEqual(["3 bytes", "ok", "5 bytes", "2 bytes"]);
  });

  it("gets 100 Continue at its first read", async () => {
    const client = await clientOf([counted]);
    client.send(heads("content-length: 4", "expect: 100-continue"));
    expect((await client.answer()).status).toBe(100);
    expect((await client.send("four").answer()).body).toBe("4 bytes");
  });

  it("BS-10 above its limit is a 413, and the rest is dropped", async () => {
    const small = post(
      Path.of("upload"),
      { inputs: { upload: bodyStream({ max: 10 }) }, returns: Returns.text },
      async ({ upload }) => {
        const read = [];
        for await (const part of upload) read.push(part);
        return String(read.length);
      },
    );
    const client = await clientOf([small, ok]);
    for (const [, posted] of ways) {
      const answered = await client.send(posted("x".repeat(1000))).answer();
      expect([answered.status, answered.body, header(answered, "connection")]).toEqual([413, tooLarge, undefined]);
    }
    expect((await client.ask("GET /ok").answer()).body).toBe("ok");
  });

  it("SV-15 that does not fit the budget is a 503, and closed", async () => {
    const client = await clientOf([counted], { bodyBudget: 10 });
    const answered = await client.send(heads("content-length: 1000") + "x".repeat(20)).answer();
    expect([answered.status, answered.body, header(answered, "connection")]).toEqual([503, busy, "close"]);
    await client.closed();
  });
});

describe("a body that is partly read", () => {
  const first = reads(async (body) => {
    const { value } = (await body.read()) as { readonly value: Uint8Array };
    return Buffer.from(value.subarray(0, 3)).toString();
  });
  // Its read is pending when the answer is made.
  const waits = reads(async (body) => {
    await body.read();
    void body.read();
    return "one";
  });

  it.each([
    ["and the rest", first],
    ["and waited for", waits],
  ])("%s is dropped, and the connection stays open", async (_how, route) => {
    for (const [, posted] of ways) {
      for (const bytes of [3, 1000, most]) {
        const client = await clientOf([route, ok]);
        const whole = posted(`one${"x".repeat(bytes)}`);
        // All at once, followed by a request; and the rest of it only after the answer, or while the answer waits for it.
        const answered = await client.send(`${whole}GET /ok HTTP/1.1\r\nhost: h\r\n\r\n`).answer();
        expect([answered.body, header(answered, "connection")]).toEqual(["one", undefined]);
        expect((await client.answer()).body).toBe("ok");
        client.send(whole.slice(0, -bytes));
        await turns(client.socket.remotePort as number);
        client.send(whole.slice(-bytes));
        expect((await client.answer()).body).toBe("one");
        expect((await client.ask("GET /ok").answer()).body).toBe("ok");
      }
    }
  });

  it.each([
    ["and the rest", first],
    ["and waited for", waits],
  ])("%s is longer than 64 KiB: answered, and closed", async (_how, route) => {
    for (const [, posted] of ways) {
      const client = await clientOf([route, ok]);
      const answered = await client.send(posted(`one${"x".repeat(100 * most)}`)).answer();
      expect([answered.body, header(answered, "connection")]).toEqual(["one", "close"]);
      await client.closed();
    }
  });

  it.each([
    ["and the rest", first],
    ["and waited for", waits],
  ])("%s has invalid framing: answered before its time limit, and closed", async (_how, route) => {
    holdClock();
    for (const leaves of [(client: RawClient) => client.send("zz\r\n"), (client: RawClient) => client.halfClose()]) {
      const client = await clientOf([route, ok]);
      client.send(heads(chunked) + chunk("one"));
      await turns(client.socket.remotePort as number);
      const answered = await leaves(client).answer();
      expect([answered.body, header(answered, "connection")]).toEqual(["one", "close"]);
    }
  });

  it("BS-07 and read once more after the answer has ended", async () => {
    const late = gate<unknown>();
    const route = reads(async (body) => {
      await body.read();
      setImmediate(() => void body.read().then(late.open));
      return "early";
    });
    const client = await clientOf([route, ok]);
    client.send(heads("content-length: 6") + "abc");
    expect((await client.answer()).body).toBe("early");
    expect(await late.passed).toMatchObject({ ok: false, error: { kind: "unreadable" } });
    expect((await client.send("def").ask("GET /ok").answer()).body).toBe("ok");
  });
});

describe("a streamed body that does not arrive: in time", () => {
  it("BS-12 of one byte a second is 400 unreadable after 20 s, and closed", async () => {
    holdClock();
    const { port } = await start([counted]);
    const client = await RawClient.to(port);
    client.send(heads(chunked));
    let answered: RawAnswer | undefined;
    void client.answer().then((answer) => (answered = answer));
    let seconds = 0;
    for (; answered === undefined; seconds++) {
      client.send(chunk("x"));
      await turns(port);
      vi.advanceTimersByTime(1000);
      await turns(port);
    }
    expect(seconds).toBeGreaterThanOrEqual(20);
    expect(seconds).toBeLessThanOrEqual(22);
    expect([answered.status, answered.body, header(answered, "connection")]).toEqual([400, unreadable, "close"]);
    await client.closed();
    expect(messages("warn")).toEqual(["POST /upload: unreadable: the body stopped arriving"]);
  });

  it("may be answered by the handler, and fails the same at every read", async () => {
    holdClock();
    const failures: unknown[] = [];
    const { port } = await start([
      reads(async (body) => {
        for (let i = 0; i < 3; i++) failures.push(await body.read());
        return "told";
      }),
    ]);
    const client = await RawClient.to(port);
    client.send(heads("content-length: 10"));
    await turns(port);
    vi.advanceTimersByTime(22_000);
    const answered = await client.answer();
    expect([answered.body, header(answered, "connection")]).toEqual(["told", "close"]);
    const tooSlow = { ok: false, error: { kind: "unreadable", detail: "the body stopped arriving" } };
    expect(failures).toEqual([tooSlow, tooSlow, tooSlow]);
  });

  it("does not time out while its handler works: that time is not the client's", async () => {
    holdClock();
    const asks = [gate(), gate(), gate()];
    const goOn = [gate(), gate()];
    const { port } = await start([
      reads(async (body) => {
        let text = "";
        for (const [i, asked] of asks.entries()) {
          const read = body.read();
          asked.open();
          const got = await read;
          if (!got.ok) return got.error.detail;
          text += Buffer.from(got.value ?? []).toString();
          await goOn[i]?.passed;
        }
        return text;
      }),
    ]);
    const client = await RawClient.to(port);
    client.send(heads("content-length: 3"));
    for (const [i, byte] of ["a", "b", "c"].entries()) {
      await asks[i]?.passed;
      // The client's own time, of which it has 20 s in all.
      vi.advanceTimersByTime(6000);
      client.send(byte);
      await turns(port);
      vi.advanceTimersByTime(60_000);
      await turns(port);
      goOn[i]?.open();
    }
    expect((await client.answer()).body).toBe("abc");
  });
});

describe("a streamed body that does not arrive: of a client that disconnects", () => {
  it.each([
    ["whose client goes", (client: RawClient) => client.leave(), "the body ended early"],
    ["whose client ends it", (client: RawClient) => client.socket.end(), "the body ended early"],
    ["whose chunks are none", (client: RawClient) => client.send("zz", ""), /malformed chunked body/],
  ])("%s fails, whether its handler waits for it or reads later", async (_how, breaks, detail) => {
    for (const waits of [true, false]) {
      const asked = gate();
      const broken = gate();
      const failed = gate<unknown>();
      const { port } = await start([
        reads(async (body) => {
          await body.read();
          const next = waits ? body.read() : undefined;
          asked.open();
          if (!waits) await broken.passed;
          const read = await (next ?? body.read());
          failed.open(read.ok ? read : read.error);
          return read.ok ? "" : (Body.refusal(read.error) as never);
        }),
        ok,
      ]);
      const client = await RawClient.to(port);
      client.send(heads(chunked) + chunk("abc"));
      await asked.passed;
      breaks(client);
      await turns(port);
      broken.open();
      expect(await failed.passed).toMatchObject({ kind: "unreadable", detail: expect.stringMatching(detail) });
      await (await RawClient.to(port)).ask("GET /ok").answer();
    }
  });

  it("fails at once if the client disconnected before the first read", async () => {
    const failed = gate<unknown>();
    const asked = gate();
    const route = post(
      Path.of("upload"),
      { inputs: { upload, clientGone }, returns: Returns.text },
      async ({ upload, clientGone }) => {
        asked.open();
        await new Promise<void>((resolve) => clientGone.addEventListener("abort", () => resolve()));
        failed.open(await upload.read());
        return "";
      },
    );
    const client = await clientOf([route]);
    client.send(heads("content-length: 10") + "abc");
    await asked.passed;
    client.leave();
    expect(await failed.passed).toMatchObject({ ok: false, error: { detail: "the body ended early" } });
  });
});
