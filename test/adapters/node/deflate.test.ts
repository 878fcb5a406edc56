/** `permessage-deflate` on Node (RFC 7692; rows WD): negotiation, frames, and limits. */
import { constants, deflateRawSync, inflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { App, Path, Returns, Socket, get } from "usher-http";
import type { Route, SocketOptions } from "usher-http";
import { agreedDeflate } from "../../../adapters/node/deflate.ts";
import { eventually } from "../../support/eventually.ts";
import { logged } from "../../support/logs.ts";
import { gate, start } from "../../support/node-server.ts";
import { bytes, frame, framed } from "./open-sockets.ts";
import { rounds } from "../../support/wide.ts";

const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const ours = "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=";

describe("WD an offer", () => {
  it.each<[id: string, offer: string | string[], bits: string | undefined]>([
    ["WD-01 without parameters", "permessage-deflate", "12"],
    ["WD-02 of a browser", "permessage-deflate; client_max_window_bits", "12; client_max_window_bits=12"],
    [
      "WD-03 with a smaller window for its own side",
      "permessage-deflate; client_max_window_bits=10",
      "12; client_max_window_bits=10",
    ],
    ["WD-03 with a larger one", "permessage-deflate; client_max_window_bits=15", "12; client_max_window_bits=12"],
    ["WD-03 with one that zlib does not have", "permessage-deflate; client_max_window_bits=8", "12"],
    ["WD-04 with a smaller window for the server", "permessage-deflate; server_max_window_bits=9", "9"],
    ["WD-04 with a larger one", "permessage-deflate; server_max_window_bits=15", "12"],
    ["WD-04 with one that zlib does not have", "permessage-deflate; server_max_window_bits=8", undefined],
    ["WD-05 of no context", "permessage-deflate; server_no_context_takeover; client_no_context_takeover", "12"],
    [
      "WD-06 of all four",
      "permessage-deflate;server_no_context_takeover;client_no_context_takeover;server_max_window_bits=11;client_max_window_bits=9",
      "11; client_max_window_bits=9",
    ],
    ["WD-07 in quotes", 'permessage-deflate; server_max_window_bits="10"', "10"],
    [
      "WD-08 behind one that cannot be accepted",
      "permessage-deflate; server_max_window_bits=8, permessage-deflate",
      "12",
    ],
    [
      "WD-08 behind another extension, on a line of its own",
      ["x-webkit-deflate-frame; a=b", "permessage-deflate"],
      "12",
    ],
    ["WD-09 with blanks and empty elements", " ,\t, permessage-deflate \t; server_max_window_bits = 10 ,", "10"],
    ["WD-10 of an unknown parameter", "permessage-deflate; unknown", undefined],
    ["WD-10 of an unknown parameter with a value", "permessage-deflate; unknown=1", undefined],
    ["WD-11 of a parameter twice", "permessage-deflate; client_max_window_bits; client_max_window_bits=10", undefined],
    [
      "WD-11 of one twice, with one value",
      "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
      undefined,
    ],
    ["WD-12 with a value where there is none", "permessage-deflate; server_no_context_takeover=1", undefined],
    ["WD-12 with no value where there is one", "permessage-deflate; server_max_window_bits", undefined],
    ...["7", "16", "0", "-1", "010", "1e1", "9.0", '""', "99999999999999999999"].map(
      (bits): [string, string, undefined] => [
        `WD-13 of ${bits} bits`,
        `permessage-deflate; server_max_window_bits=${bits}`,
        undefined,
      ],
    ),
    ["WD-13 of 16 bits of the client", "permessage-deflate; client_max_window_bits=16", undefined],
    ["WD-14 of another extension", "x-webkit-deflate-frame", undefined],
    ["WD-14 of a name in capitals", "Permessage-Deflate", undefined],
    ["WD-15 that is malformed", "permessage-deflate; =", undefined],
    ["WD-15 whose quote does not end", 'permessage-deflate; server_max_window_bits="1', undefined],
    ["WD-15 with another that is malformed behind it", "permessage-deflate, a b", undefined],
    ["WD-15 of nothing", "", undefined],
    ["WD-15 of a separator", ";", undefined],
    ["WD-16 of members of every object", "permessage-deflate; __proto__, permessage-deflate; constructor=1", undefined],
  ])("%s", (_id, offer, bits) => {
    expect(agreedDeflate([offer].flat())).toBe(bits === undefined ? undefined : ours + bits);
  });
});

describe("WD any offer", () => {
  it("WD-17 among very many is parsed in linear time", () => {
    const bad = "permessage-deflate; server_max_window_bits=8,";
    expect(agreedDeflate([`${bad.repeat(20_000)}permessage-deflate`])).toBe(`${ours}12`);
    expect(agreedDeflate([`permessage-deflate${"; a".repeat(100_000)}`])).toBeUndefined();
    expect(agreedDeflate([`${"\t".repeat(100_000)};`, ",".repeat(100_000), '"'.repeat(100_000)])).toBeUndefined();
  });

  it("WD-18 of any text never throws, and is accepted with no more than it offers", () => {
    const part = fc.constantFrom(
      "permessage-deflate",
      ";",
      ",",
      "=",
      '"',
      " ",
      "8",
      "15",
      "server_max_window_bits",
      "client_max_window_bits",
      "x",
      "\\",
      "\u00e9",
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
        const agreed = agreedDeflate([parts.join("")]);
        if (agreed === undefined) return;
        expect(agreed.startsWith(ours)).toBe(true);
        expect(agreed.includes("; client_max")).toBe(
          agreed.includes("; client_max") && parts.includes("client_max_window_bits"),
        );
      }),
      { numRuns: rounds(2000) },
    );
  });
});

const offer = "sec-websocket-extensions: permessage-deflate";

function echoing(options: SocketOptions = {}, protocol: typeof texts | typeof bytes = texts): Route {
  return get(
    Path.of("echo"),
    { returns: Returns.websocket(protocol as typeof texts, { compression: true, ...options }) },
    () => {
      return async (socket) => {
        for await (const message of socket) await socket.send(message);
      };
    },
  );
}

/** The payload of a compressed message (RFC 7692 §7.2.1). */
function deflated(data: string | Buffer, windowBits = 12): Buffer {
  const whole = deflateRawSync(data, { finishFlush: constants.Z_SYNC_FLUSH, windowBits });
  return whole.subarray(0, -4);
}

const tail = Buffer.from([0, 0, 0xff, 0xff]);
const inflated = (payload: Buffer): Buffer =>
  inflateRawSync(Buffer.concat([payload, tail]), { finishFlush: constants.Z_SYNC_FLUSH, windowBits: 12 });

type Client = Awaited<ReturnType<typeof framed>>["client"];

/** The next frame of the server: its first byte and its payload. */
async function heard(client: Client): Promise<readonly [first: number, payload: Buffer]> {
  const [first = 0, short = 0] = await client.bytes(2);
  if (short < 126) return [first, await client.bytes(short)];
  const length =
    short === 126 ? (await client.bytes(2)).readUInt16BE() : Number((await client.bytes(8)).readBigUInt64BE());
  return [first, await client.bytes(length)];
}

const opened = (route: Route, extensions: readonly string[] = [offer]) => framed([route], "/echo", {}, extensions);
const long = "hello ".repeat(1000);

describe("WD a socket that compresses", () => {
  it("WD-20 names the accepted parameters", async () => {
    const { head } = await opened(echoing(), [`${offer}; client_max_window_bits`]);
    expect(head).toContain(`sec-websocket-extensions: ${ours}12; client_max_window_bits=12`);
  });

  it.each<[id: string, route: Route, extensions: readonly string[]]>([
    ["WD-21 that is not asked to", echoing({ compression: false }), [offer]],
    ["WD-21 whose client offers nothing", echoing(), []],
    ["WD-21 whose client offers what cannot be accepted", echoing(), [`${offer}; server_max_window_bits=8`]],
    ["WD-21 whose client's offer is malformed", echoing(), [`${offer}; "`]],
  ])("%s sends messages uncompressed", async (_id, route, extensions) => {
    const { client, head } = await opened(route, extensions);
    expect(head.filter((line) => line.startsWith("sec-websocket-extensions"))).toEqual([]);
    client.send(frame(0x81, long));
    expect(await heard(client)).toEqual([0x81, Buffer.from(long)]);
    client.send(frame(0xc1, deflated(long)));
    const [first, payload] = await heard(client);
    expect([first, payload.readUInt16BE()]).toEqual([0x88, 1002]);
  });

  it("WD-22 (Autobahn 12) sends long messages compressed, and short ones uncompressed, in their order", async () => {
    const { client } = await opened(echoing());
    const sent = [long, "short", "x".repeat(1023), "x".repeat(1024), "é".repeat(512), "", long, "end"];
    client.send(Buffer.concat(sent.map((text) => frame(0x81, text))));
    for (const text of sent) {
      const [first, payload] = await heard(client);
      const isLong = Buffer.byteLength(text) >= 1024;
      expect(first).toBe(isLong ? 0xc1 : 0x81);
      expect((isLong ? inflated(payload) : payload).toString()).toBe(text);
      if (isLong) expect(payload.length).toBeLessThan(100);
    }
  });

  it.each([0, 16, 64, 256, 1024, 4096, 8192, 16_384, 32_768, 65_536, 131_072])(
    "WD-23 (Autobahn 12) reads and sends compressed messages of %d bytes, text and binary",
    async (length) => {
      const data = Buffer.from(Array.from({ length }, (_, i) => ((i * 31 + (i >> 5)) % 96) + 32));
      for (const [opcode, protocol] of [
        [1, texts],
        [2, bytes],
      ] as const) {
        const { client } = await opened(echoing({ compression: { minBytes: 0 } }, protocol));
        for (let i = 0; i < 3; i++) client.send(frame(0xc0 | opcode, deflated(data)));
        for (let i = 0; i < 3; i++) {
          const [first, payload] = await heard(client);
          expect([first, inflated(payload).equals(data)]).toEqual([0xc0 | opcode, true]);
        }
      }
    },
  );

  it.each([
    "",
    "; client_max_window_bits",
    "; client_max_window_bits=9",
    "; server_max_window_bits=9",
    "; server_no_context_takeover; client_no_context_takeover",
    "; server_max_window_bits=15; client_max_window_bits=15",
  ])("WD-24 (Autobahn 13) exchanges messages with a client that offers %j", async (parameters) => {
    const { client, head } = await opened(echoing(), [offer + parameters]);
    const agreed = head.find((line) => line.startsWith("sec-websocket-extensions")) ?? "";
    const bits = Number(/client_max_window_bits=(\d+)/.exec(agreed)?.[1] ?? 15);
    for (let i = 0; i < 20; i++) {
      client.send(frame(0xc1, deflated(`${i} ${long}`, bits)));
      const [first, payload] = await heard(client);
      expect([first, inflated(payload).toString()]).toEqual([0xc1, `${i} ${long}`]);
    }
  });
});

describe("WD the frames of a compressed message", () => {
  it("WD-25 may be cut at any byte, with control frames between them, which are never compressed", async () => {
    const { client } = await opened(echoing());
    const payload = deflated(long);
    for (let at = 0; at <= payload.length; at += 3) {
      client.send(frame(0x41, payload.subarray(0, at)));
      client.send(frame(0x89, "p".repeat(100)));
      client.send(frame(0x80, payload.subarray(at)));
      expect(await heard(client)).toEqual([0x8a, Buffer.from("p".repeat(100))]);
      const [first, answer] = await heard(client);
      expect([first, inflated(answer).toString()]).toEqual([0xc1, long]);
    }
    client.send(frame(0x88, Buffer.from([0x03, 0xe8])));
    expect(await heard(client)).toEqual([0x88, Buffer.from([0x03, 0xe8])]);
  });

  it.each<[id: string, frames: Buffer[], code: number]>([
    ["WD-26 RSV1 on a continuation", [frame(0x41, deflated("a")), frame(0xc0, "")], 1002],
    ["WD-26 RSV1 on a ping", [frame(0xc9, "")], 1002],
    ["WD-26 RSV1 on a pong", [frame(0xca, "")], 1002],
    ["WD-26 RSV1 on a close", [frame(0xc8, "")], 1002],
    ["WD-26 RSV2", [frame(0xa1, "a")], 1002],
    ["WD-26 RSV3", [frame(0x91, "a")], 1002],
    ["WD-26 RSV1 and RSV2", [frame(0xe1, deflated("a"))], 1002],
    ["WD-27 what is no DEFLATE", [frame(0xc1, Buffer.from([0x07, 0xff, 0xff]))], 1007],
    ["WD-27 a stored block that breaks off", [frame(0xc1, Buffer.from([0x00, 0xff, 0x00, 0x00, 0xff, 0x61]))], 1007],
    ["WD-28 bytes that are not UTF-8", [frame(0xc1, deflated(Buffer.from([0xff, 0xfe])))], 1007],
    ["WD-29 a message longer than it may be", [frame(0xc1, deflated("x".repeat(10_001)))], 1009],
    ["WD-29 twice that", [frame(0xc1, deflated("x".repeat(20_002)))], 1009],
    [
      "WD-29 one in pieces, of which none is",
      [frame(0x41, Buffer.concat([deflated("x".repeat(6000)), tail])), frame(0x80, deflated("y".repeat(6000)))],
      1009,
    ],
    ["WD-30 a bomb of 100 MB in 100 kB", [frame(0xc1, deflated(Buffer.alloc(9_000_000)))], 1009],
    ["WD-31 more compressed bytes than a message may have", [frame(0xc1, Buffer.alloc(10_001))], 1009],
  ])("%s ends the socket with its code", async (_id, frames, code) => {
    const { client } = await opened(echoing({ maxMessage: 10_000 }));
    client.send(Buffer.concat(frames));
    const [first, payload] = await heard(client);
    expect([first, payload.readUInt16BE()]).toEqual([0x88, code]);
    expect(logged().join()).not.toContain("xxxxxx");
  });

  it("WD-32 a message of the maximum length is read", async () => {
    const { client } = await opened(echoing({ maxMessage: 10_000 }));
    client.send(frame(0xc1, deflated("x".repeat(10_000))));
    const [, payload] = await heard(client);
    expect(inflated(payload).toString()).toBe("x".repeat(10_000));
  });

  it("WD-33 a final block does not end the socket, and the next message is read", async () => {
    const { client } = await opened(echoing());
    for (let i = 0; i < 3; i++) {
      client.send(frame(0xc1, Buffer.concat([deflateRawSync(`hello ${i}`), Buffer.from([0])])));
      expect(await heard(client)).toEqual([0x81, Buffer.from(`hello ${i}`)]);
    }
  });

  it("WD-34 a client that disconnects inside a message is gone, and others are served", async () => {
    const route = echoing();
    const { server, client } = await opened(route);
    const whole = frame(0xc1, deflated(long));
    client.send(whole.subarray(0, whole.length - 3));
    client.socket.destroy();
    await eventually(() => expect(logged().join()).toContain("ended: lost"));
    const other = new WebSocket(`ws://127.0.0.1:${server.port}/echo`);
    const echoed = gate<string>();
    other.on("open", () => other.send(long)).on("message", (data) => echoed.open(String(data)));
    expect(await echoed.passed).toBe(long);
    other.close();
  });
});

it.each([
  ["that become 16 MiB all wait for the handler", 16, undefined],
  ["that become more are too many", 40, 1013],
])("WD-31 messages of one packet %s", async (_id, count, code) => {
  const first = gate();
  const read = gate<number>();
  const route = get(
    Path.of("late"),
    { returns: Returns.websocket(texts, { compression: true }) },
    () => async (socket) => {
      await first.passed;
      let messages = 0;
      for await (const _ of socket) messages++;
      read.open(messages);
    },
  );
  const { client } = await framed([route], "/late", {}, [offer]);
  client.send(Buffer.concat(Array.from({ length: count }, () => frame(0xc1, deflated("x".repeat(1_048_576))))));
  if (code === undefined) client.send(frame(0x88, Buffer.from([0x03, 0xe8])));
  else expect((await heard(client))[1].readUInt16BE()).toBe(code);
  first.open();
  expect([16, 17]).toContain(await read.passed);
});

it("WD-35 a round trip through ws gives the messages that were sent", async () => {
  const server = await start([echoing({ compression: { minBytes: 10 } })]);
  const client = new WebSocket(`ws://127.0.0.1:${server.port}/echo`, { perMessageDeflate: { threshold: 0 } });
  const got: string[] = [];
  client.on("message", (data) => got.push(String(data)));
  await new Promise((resolve) => client.once("open", resolve));
  expect(client.extensions).toBe("permessage-deflate");
  const message = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 200 }),
    fc.nat(30_000).map((n) => "ab c".repeat(n)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(message, { maxLength: 8 }), async (messages) => {
      got.length = 0;
      for (const message of messages) client.send(message);
      await eventually(() => expect(got).toHaveLength(messages.length));
      expect(got).toEqual(messages);
    }),
    { numRuns: rounds(40) },
  );
  client.close();
});

it("WD-36 sent messages leave before a close, and the close is answered", async () => {
  const route = get(
    Path.of("echo"),
    { returns: Returns.websocket(texts, { compression: true }) },
    () => async (socket) => {
      for (let i = 0; i < 20; i++) void socket.send(`${i} ${long}`);
      await socket.close({ code: 4001, reason: "enough" });
    },
  );
  const { client } = await opened(route);
  for (let i = 0; i < 20; i++) expect(inflated((await heard(client))[1]).toString()).toBe(`${i} ${long}`);
  const [first, payload] = await heard(client);
  expect([first, payload.readUInt16BE(), payload.subarray(2).toString()]).toEqual([0x88, 4001, "enough"]);
});

it("WD-37 a client that does not read blocks its sender, and is disconnected after sendTimeoutMs", async () => {
  let sends = 0;
  const ended = gate<string>();
  // Random text, which compresses little.
  const noise = Array.from({ length: 40_000 }, () => Math.random().toString(36).slice(2, 8)).join("");
  const route = get(
    Path.of("echo"),
    { returns: Returns.websocket(texts, { compression: true }) },
    () => async (socket) => {
      for (;;) {
        const sent = await socket.send(noise);
        if (!sent.ok) return ended.open(sent.error.kind);
        sends++;
      }
    },
  );
  const { client } = await framed([route], "/echo", { sendTimeoutMs: 300 }, [offer]);
  client.socket.pause();
  expect(await ended.passed).toBe("lost");
  expect(sends).toBeLessThan(500);
});

it.each([
  [-1, "minBytes cannot be -1: it is a number of bytes"],
  [1.5, "minBytes cannot be 1.5: it is a number of bytes"],
  ["1", "minBytes cannot be 1: it is a number of bytes"],
])("WD-38 refuses %j bytes as the minimum length of a compressed message", (minBytes, sentence) => {
  expect(() => echoing({ compression: { minBytes: minBytes as number } })).toThrow(sentence);
});

it("WD-39 refuses an option that is neither true nor an object", () => {
  expect(() => echoing({ compression: 5 as never })).toThrow(
    "Returns.websocket: compression is a number, and not an object",
  );
  expect(() => App.make([echoing({ compression: {} })])).not.toThrow();
});
