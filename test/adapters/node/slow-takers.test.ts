/** Clients that read a response bit by bit (`minSendRate`). The clock of the server is held: no verdict turns on how fast the machine is. */
import { connect } from "node:http2";
import { expect, it, onTestFinished, vi } from "vitest";
import { Answer, Path, Returns, get } from "usher-http";
import { messages } from "../../support/logs.ts";
import { holdClock, start } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";
import { eventually } from "../../support/eventually.ts";
import { bytes, framed } from "./open-sockets.ts";

const part = Buffer.alloc(1024 * 1024);
const all = Buffer.alloc(200 * part.byteLength);
const routes = [
  get(Path.of("whole"), { returns: Returns.response }, () => Answer.make(all)),
  get(Path.of("stream"), { returns: Returns.response }, () => {
    async function* parts() {
      for (let i = 0; i < 200; i++) yield part;
    }
    return Answer.stream(parts());
  }),
];

/** A client that reads only when the test asks it to. */
interface Reader {
  /** Reads at least this number of bytes; less where the server has ended the response. */
  take(bytes: number): Promise<void>;
  readonly isCut: boolean;
}

interface Readable {
  pause(): unknown;
  resume(): unknown;
  on(event: "data", listener: (part: Buffer) => void): unknown;
  on(event: "end" | "close" | "error", listener: () => void): unknown;
}

function readerOf(source: Readable): Reader {
  let left = 0;
  let isCut = false;
  let wake = (): void => {};
  source.on("data", (part) => {
    left -= part.byteLength;
    if (left > 0) return;
    source.pause();
    wake();
  });
  const cut = (): void => {
    isCut = true;
    wake();
  };
  source.on("error", cut);
  source.on("end", cut);
  source.on("close", cut);
  source.pause();
  return {
    take: (bytes) => {
      if (isCut) return Promise.resolve();
      left = bytes;
      return new Promise((resolve) => {
        wake = resolve;
        source.resume();
      });
    },
    get isCut() {
      return isCut;
    },
  };
}

/** HTTP/1.1: what the system has taken counts, which is up to 6 MB on loopback before the client has read any of it. */
async function overHttp1(port: number, path: string): Promise<Reader> {
  const client = await RawClient.to(port);
  client.ask(`GET /${path}`);
  await client.sees("\r\n\r\n");
  client.socket.removeAllListeners("data");
  return readerOf(client.socket);
}

/** HTTP/2: the window is 64 KiB, which the client opens as it reads. */
async function overHttp2(port: number, path: string): Promise<Reader> {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  const stream = session.request({ ":path": `/${path}` });
  const reader = readerOf(stream);
  await new Promise((resolve) => stream.once("response", resolve));
  return reader;
}

/** What is read in 4 s. Buffers hold up to 6 MB on loopback: less than a slow client reads in `sendTimeoutMs`, so that the server sees it read. */
const listeners = [
  { over: "HTTP/1.1", open: overHttp1, minSendRate: 1_000_000, healthy: 8 * part.byteLength, slow: part.byteLength },
  { over: "HTTP/2", open: overHttp2, minSendRate: 10_000, healthy: 131_072, slow: 8192 },
];

it.each(listeners.flatMap((how) => ["whole", "stream"].map((path) => ({ ...how, path }))))(
  "over $over a client that reads less than minSendRate of /$path is disconnected, and one that reads twice as much is not",
  async ({ open, minSendRate, healthy, slow, path }) => {
    holdClock();
    const sendBudget = 2 ** 31;
    const limits = { minSendRate, sendTimeoutMs: 30_000, sendBudget, sendShare: sendBudget };
    const server = await start(routes, { http2: true, ...limits });
    const { port } = server;
    const tooSlow = [await open(port, path), await open(port, path)];
    const reader = await open(port, path);
    for (let seconds = 0; seconds < 92; seconds += 4) {
      await reader.take(healthy);
      for (const client of tooSlow) await client.take(slow);
      vi.advanceTimersByTime(4000);
    }
    const said = `clients disconnected that read fewer bytes a second than minSendRate (${minSendRate}): `;
    const warned = (): readonly string[] =>
      messages("warn").flatMap((line) => (String(line).startsWith(said) ? [String(line).slice(said.length)] : []));
    // The first at once. The line after it would come a minute later, or when the server stops.
    await eventually(() => expect(warned()).toEqual(["1"]));
    await reader.take(healthy);
    expect(reader.isCut).toBe(false);
    // None of them stopped reading.
    expect(messages("info").filter((line) => /stopped reading for/.test(String(line)))).toEqual([]);
    await server.stop();
    expect(warned()).toEqual(["1", "1"]);
  },
);

it("a WebSocket whose client reads less than minSendRate of a message is cut off, and its send fails", async () => {
  holdClock();
  const sent: unknown[] = [];
  const sends = get(
    Path.of("s"),
    { returns: Returns.websocket(bytes, { keepAliveMs: 2 ** 31 - 1 }) },
    () => async (socket) => {
      await socket.send(all);
      // It waits for the first.
      sent.push(await socket.send(part));
    },
  );
  const sendBudget = 2 ** 31;
  const limits = { minSendRate: 1_000_000, sendTimeoutMs: 30_000, sendBudget, sendShare: sendBudget };
  const { client } = await framed([sends], "/s", limits);
  client.socket.removeAllListeners("data");
  const reader = readerOf(client.socket);
  for (let seconds = 0; seconds < 92; seconds += 4) {
    await reader.take(part.byteLength);
    vi.advanceTimersByTime(4000);
  }
  await eventually(() =>
    expect(sent).toEqual([{ ok: false, error: { kind: "lost", detail: "what was written was taken too slowly" } }]),
  );
});
