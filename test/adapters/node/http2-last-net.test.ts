/**
 * A listener of a stream of HTTP/2 throws, which no known input causes: that stream is reset, an error line has its kind and its place
 * but no message, and the connection and the process continue. Of HTTP/1.1: last-net.test.ts.
 */
import { afterEach, expect, it, vi } from "vitest";
import { Path, Returns, body, get, post } from "usher-http";
import { Http2Body } from "../../../adapters/node/http2/body.ts";
import { SessionOwner } from "../../../adapters/node/http2/session.ts";
import { SendTimeout } from "../../../adapters/node/http2/stream.ts";
import { eventually } from "../../support/eventually.ts";
import { http2Ask, http2Client } from "../../support/http2-client.ts";
import { lines } from "../../support/logs.ts";
import { start } from "../../support/node-server.ts";

afterEach(() => void vi.restoreAllMocks());

const routes = [
  get(Path.of("ok"), { returns: Returns.text }, () => "ok"),
  get(Path.of("later"), { returns: Returns.text }, async () => "later"),
  post(Path.of("size"), { inputs: { body }, returns: Returns.text }, ({ body }) => `${body.byteLength}`),
];
const raises = (): never => {
  throw new TypeError("a secret");
};
type App = { answer: () => unknown };
const rows: readonly (readonly [what: string, path: string, breaks: (app: App) => void])[] = [
  ["that begins", "/ok", () => vi.spyOn(SessionOwner.prototype, "streamBegan").mockImplementationOnce(raises)],
  ["while the app answers", "/ok", (app) => vi.spyOn(app, "answer").mockImplementationOnce(raises)],
  [
    "while the app answers later",
    "/ok",
    (app) => vi.spyOn(app, "answer").mockImplementationOnce(() => Promise.reject(new TypeError("a secret"))),
  ],
  ["whose answer is written", "/ok", () => vi.spyOn(SendTimeout.prototype, "start").mockImplementationOnce(raises)],
  [
    "whose answer is written later",
    "/later",
    () => vi.spyOn(SendTimeout.prototype, "start").mockImplementationOnce(raises),
  ],
  ["whose body arrives", "/size", () => vi.spyOn(Http2Body.prototype, "take").mockImplementationOnce(raises)],
];

it.each(rows)("an exception in a listener of a stream ends only that stream: %s", async (_what, path, breaks) => {
  const server = await start(routes, { http2: true, drainMs: 600_000 });
  const session = await http2Client(server.url);
  breaks(server.app as never);
  const isPost = path === "/size";
  const head = { ":path": path, ":method": isPost ? "POST" : "GET" };
  // No response, one that is reset, or the refusal of a body that is not whole: nothing that its client could take for a whole one.
  const answer = await http2Ask(session, head, isPost ? "four" : undefined).then(
    ({ status }) => `${status}`,
    (thrown: unknown) => String(thrown),
  );
  expect(answer).toMatch(/^400$|the stream (?:was reset with|ended without a response, by) 2$|ERR_HTTP2_STREAM_ERROR/);
  await eventually(() => expect(lines().filter(({ level }) => level === "error")).toHaveLength(1));
  const line = lines().find(({ level }) => level === "error");
  expect(line).toMatchObject({ "error.kind": "TypeError", "error.stack": expect.stringMatching(/^at /) });
  expect(JSON.stringify(lines())).not.toContain("secret");
  expect((await http2Ask(session, { ":path": "/ok" })).body).toBe("ok");
  session.close();
  // Nothing stays in flight.
  expect(await server.stop()).toBe(0);
});
