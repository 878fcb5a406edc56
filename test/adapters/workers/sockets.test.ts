/** Sockets of a Worker, which are not told how much their client has taken (issue 5). */
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { WorkerTransport } from "../../../adapters/workers/socket.ts";
import type { WorkerSocket } from "../../../adapters/workers/socket.ts";
import type { SocketListener } from "../../../src/sockets/socket.ts";
import { eventually } from "../../support/eventually.ts";
import { bundle, start } from "./running.ts";

const handshake = ["connection: upgrade", "upgrade: websocket", "sec-websocket-version: 13"];
const opening = [...handshake, "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=="];
/** The most memory it had so far. */
const megabytes = (pid: number): number => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]) / 1024;
};

it.skipIf(process.platform !== "linux")(
  "what is sent as fast as it goes is not kept until it is all there",
  async () => {
    const worker = await start(await bundle({ file: "program.ts" }), { bindings: { WORD: "hello" } });
    const client = await worker.client();
    expect((await client.ask("GET /").answer()).status).toBe(200);
    const before = megabytes(worker.pid);
    client.ask("GET /heavy", opening);
    client.discard();
    let bytes = 0;
    const all = new Promise<void>((resolve) => {
      client.socket.on("data", (part: Buffer) => {
        bytes += part.length;
        if (bytes > 512 * 262_144) resolve();
      });
    });
    await all;
    expect(megabytes(worker.pid) - before).toBeLessThan(80);
  },
);

it.skipIf(process.platform !== "linux")("a client that says nothing is sent 16 MiB, and then waited for", async () => {
  const worker = await start(await bundle({ file: "program.ts" }), { bindings: { WORD: "hello" } });
  const [client, other] = [await worker.client(), await worker.client()];
  const flooded = async () => Number((await other.ask("GET /flooded").answer()).body);
  expect(await flooded()).toBe(0);
  const before = megabytes(worker.pid);
  expect((await client.ask("GET /floods", opening).answer()).status).toBe(101);
  client.socket.pause();
  // The last of it waits.
  await eventually(async () => expect(await flooded()).toBe(16_777_216 - 262_144));
  expect(megabytes(worker.pid) - before).toBeLessThan(80);
  // A text of one letter, its mask of zeros.
  client.send("\u0081\u0081\0\0\0\0x");
  await eventually(async () => expect(await flooded()).toBe(2 * 16_777_216 - 262_144));
});

describe("a client that closes is answered by a close with its code", () => {
  const flags = ["nodejs_als", "enable_request_signal"];
  const code = (code: number): string => String.fromCharCode(code >> 8, code & 0xff);
  const [protocolError, none] = [code(1002), code(5000)];
  it.each([
    ["by the runtime", flags, none],
    // `close()` throws for an invalid code.
    ["by the Worker, where the runtime leaves it to it", [...flags, "web_socket_manual_reply_to_close"], protocolError],
  ])("%s", async (_who, flags, toNone) => {
    const worker = await start(await bundle({ file: "program.ts" }), { flags, bindings: { WORD: "hello" } });
    for (const [sent, answered] of [
      ["", ""],
      ...[1000, 1001, 1011, 4999].map((each) => [code(each), code(each)] as const),
      [none, toNone],
    ] as const) {
      const client = await worker.client();
      expect((await client.ask("GET /hears", opening).answer()).status).toBe(101);
      // Its mask is of zeros.
      client.send(`\u0088${String.fromCharCode(0x80 | sent.length)}\0\0\0\0${sent}`);
      expect(await client.frame()).toEqual({ first: 0x88, payload: answered });
      await client.closed();
    }
  });
});

/** The runtime's socket, as far as nothing is on the other side of it. */
class Quiet implements WorkerSocket {
  binaryType = "";
  readyState = 1;
  sent = 0;
  closes: unknown[] = [];
  readonly #listeners = new Map<string, (event: never) => void>();
  accept(): void {}
  send(data: string | Uint8Array): void {
    this.sent += data.length;
  }
  close(...said: unknown[]): void {
    this.closes.push(said);
    this.readyState = 2;
  }
  addEventListener(type: string, listener: (event: never) => void): void {
    this.#listeners.set(type, listener);
  }
  tell(type: string, event: unknown): void {
    this.#listeners.get(type)?.(event as never);
  }
}

describe("a client that was sent its bytes, and said nothing", () => {
  afterEach(() => vi.useRealTimers());
  const opened = (maxUnheard = 10): { socket: Quiet; link: WorkerTransport; lost: string[] } => {
    vi.useFakeTimers();
    const lost: string[] = [];
    const nothing = (): void => {};
    const heard: SocketListener = {
      message: nothing,
      frame: nothing,
      closed: nothing,
      lost: (detail) => lost.push(detail),
      stopping: nothing,
    };
    const socket = new Quiet();
    const link = new WorkerTransport(socket, maxUnheard);
    link.start(heard);
    return { socket, link, lost };
  };

  it("is lost after 30 s, and closed", async () => {
    const { socket, link, lost } = opened();
    // Bytes, and not letters.
    expect(link.send("ééé")).toBe(true);
    const both = [link.send(new Uint8Array(3)), link.send("x")];
    await vi.advanceTimersByTimeAsync(29_999);
    expect(lost).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await both[0]).toBe(true);
    expect(await both[1]).toBe(false);
    expect(lost).toEqual(["nothing heard for 30s, with 10 bytes sent meanwhile"]);
    expect([socket.closes, vi.getTimerCount()]).toEqual([[[]], 0]);
    expect(link.send("x")).toBe(false);
  });

  it("is sent more once it says something, and as much again", async () => {
    const { socket, link, lost } = opened();
    const waits = link.send("x".repeat(10));
    socket.tell("message", { data: "more" });
    expect(await waits).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
    expect(link.send("x".repeat(9))).toBe(true);
    const again = link.send("x");
    expect(vi.getTimerCount()).toBe(1);
    socket.tell("message", { data: "more" });
    expect(await again).toBe(true);
    expect(lost).toEqual([]);
  });

  it("is given time after each MiB, and not before it", async () => {
    const { link } = opened(Number.POSITIVE_INFINITY);
    for (let i = 0; i < 2; i++) {
      expect(link.send(new Uint8Array(1_048_575))).toBe(true);
      const waits = link.send("x");
      expect(waits).toBeInstanceOf(Promise);
      await vi.advanceTimersByTimeAsync(5);
      expect(await waits).toBe(true);
    }
  });

  it.each([
    ["closes", (socket: Quiet) => socket.tell("close", { code: 1000, reason: "" })],
    ["fails", (socket: Quiet) => socket.tell("error", {})],
    [
      "is closed",
      (socket: Quiet, link: WorkerTransport) => {
        link.close(1000, "over");
        link.close(1000, "twice");
        expect(socket.closes).toEqual([[1000, "over"]]);
      },
    ],
  ])("is not waited for once it %s", async (_how, end) => {
    const { socket, link } = opened();
    const waits = link.send("x".repeat(10));
    end(socket, link);
    expect(await waits).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });
});
