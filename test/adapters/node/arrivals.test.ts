/** With `maxEventLoopDelayMs`, connections are accepted before the requests of one turn are answered. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Arrivals } from "../../../adapters/node/arrivals.ts";
import { Overload, Path, Returns, Socket, body, get, post } from "usher-http";
import { start } from "../../support/node-server.ts";

const inText = { returns: Returns.text };

/** Sends a request on a new connection, which it ends after this number of answers. Resolves with all received bytes. */
function sent(port: number, request: string, answers = Number.POSITIVE_INFINITY): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(request));
    let text = "";
    socket.on("error", reject).on("data", (part) => {
      text += part.toString();
      if (statusesOf(text).length >= answers) socket.end();
    });
    socket.on("close", () => resolve(text));
  });
}

/** Of all answers that arrived. */
function statusesOf(text: string): readonly number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
}

it("answers the first request after every waiting connection is accepted", async () => {
  let accepted = 0;
  const count = (): void => void accepted++;
  subscribe("net.server.socket", count);
  onTestFinished(() => void unsubscribe("net.server.socket", count));
  const seen: number[] = [];
  const counts = get(Path.of("counts"), inText, () => {
    seen.push(accepted);
    return "ok";
  });
  const { port } = await start([counts], { overload: Overload.make({ maxEventLoopDelayMs: 10_000 }) });
  const request = "GET /counts HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  const answers = await Promise.all(Array.from({ length: 20 }, () => sent(port, request)));
  expect(answers.filter((answer) => answer.startsWith("HTTP/1.1 200"))).toHaveLength(20);
  expect(seen[0]).toBe(20);
});

it("keeps the order of a connection's requests, and their bodies", async () => {
  const seen: string[] = [];
  const echo = post(Path.of("echo"), { inputs: { text: body }, ...inText }, ({ text }) => {
    const whole = new TextDecoder().decode(text);
    seen.push(whole);
    return whole;
  });
  const { port } = await start([echo], { overload: Overload.make({ maxEventLoopDelayMs: 10_000 }) });
  const request = (text: string, more = ""): string =>
    `POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/octet-stream\r\n${more}Content-Length: 1\r\n\r\n${text}`;
  const answer = await sent(port, request("1") + request("2") + request("3", "Connection: close\r\n"));
  expect(seen).toEqual(["1", "2", "3"]);
  expect(answer.match(/HTTP\/1\.1 200/g)).toHaveLength(3);
});

const handshake =
  "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
const first = "GET /ok HTTP/1.1\r\nHost: a\r\n\r\n";

describe("answers a new connection as a server without the limit does", () => {
  const routes = [
    get(Path.of("ok"), inText, () => "ok"),
    post(Path.of("ok"), inText, () => "posted"),
    get(
      Path.of("socket"),
      { returns: Returns.websocket(Socket.protocol({ client: Socket.text, server: Socket.text })) },
      () => (socket) => socket.close(),
    ),
  ];
  it.each([
    ["an upgrade", `${first}GET /socket HTTP/1.1\r\nHost: a\r\n${handshake}\r\n`, [200, 101]],
    ["CONNECT", `${first}CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n`, [200, 501]],
    ["a head that is none", `${first}GET  /// bad\r\n\r\n`, [200, 400]],
    [
      "a body that nobody reads",
      `${first}POST /ok HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc${first}`,
      [200, 200, 200],
    ],
    [
      "an expectation",
      `${first}POST /ok HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n`,
      [200, 200],
    ],
    ["more than it wants", `GET /ok HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n${first}`, [200]],
  ])("after a request: %s", async (_what, bytes, statuses) => {
    for (const options of [{}, { overload: Overload.make({ maxEventLoopDelayMs: 10_000 }) }]) {
      const { port } = await start(routes, options);
      expect(statusesOf(await sent(port, bytes, statuses.length))).toEqual(statuses);
    }
  });
});

/** The number of turns that two requests wait, and what each turn does. */
async function turnsHeld(arrivals: Arrivals, each: () => void): Promise<number> {
  arrivals.accepted();
  const passed = vi.fn();
  const waiting = Promise.all([arrivals.wait()?.then(passed), arrivals.wait()?.then(passed)]);
  let turns = 0;
  while (passed.mock.calls.length === 0) {
    each();
    turns++;
    await new Promise(setImmediate);
  }
  await waiting;
  expect(passed).toHaveBeenCalledTimes(2);
  expect(arrivals.wait()).toBe(undefined);
  return turns;
}

it("holds requests while each turn accepts a connection, but not for ever, each time", async () => {
  const arrivals = new Arrivals();
  expect(arrivals.wait()).toBe(undefined);
  for (let i = 0; i < 2; i++) {
    const turns = await turnsHeld(arrivals, () => arrivals.accepted());
    expect(turns).toBeGreaterThan(500);
    expect(turns).toBeLessThan(1100);
    expect(await turnsHeld(arrivals, () => {})).toBeLessThan(5);
  }
});

it("answers the held requests when the server stops", async () => {
  const server = await start([get(Path.of("ok"), inText, () => "ok")], {
    overload: Overload.make({ maxEventLoopDelayMs: 10_000 }),
  });
  const arrived = vi.spyOn(Arrivals.prototype, "wait");
  onTestFinished(() => arrived.mockRestore());
  const answer = sent(server.port, first, 1);
  await vi.waitUntil(() => arrived.mock.results.some(({ value }) => value !== undefined), { interval: 0 });
  await server.stop();
  expect(statusesOf(await answer)).toEqual([200]);
});
