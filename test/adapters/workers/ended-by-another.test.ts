/** What one request of a Worker has open, and another one ends: workerd lets no request touch what belongs to another. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Miniflare } from "../../support/miniflare.ts";
import { bundle } from "./running.ts";

const program = `
import { ApiKeys, Dep, Event, Log, Path, Returns, Sessions, Socket, clientGone, get, post, setCookie } from "usher-http";
import * as v from "valibot";
import { worker } from "../../../adapters/workers/index.ts";

Log.setup({ level: "error" });
const long = 3_600_000;
const sessions = Sessions.make({
  store: Sessions.memory(), shape: v.object({ user: v.string() }), idleMs: long, absoluteMs: long, recheckMs: long,
});
const keys = ApiKeys.make({ prefix: "shop_live", store: ApiKeys.memory(), recheckMs: long });
const session = sessions.required;
const key = ApiKeys.input(keys);
const Said = Event.text("said");
const texts = Socket.protocol({ client: Socket.text, server: Socket.text });

const untilGone = (signal) => new Promise((resolve) => signal.addEventListener("abort", resolve));
const feed = ({ clientGone }) => async (send) => {
  await send(Event.make(Said, "hello"));
  await untilGone(clientGone);
};
const echo = () => async (socket) => {
  for await (const text of socket) await socket.send(text);
};
const empty = Returns.empty();
const open = (word, credential) => [
  get(Path.of("feed", word), { inputs: { credential, clientGone }, returns: Returns.events([Said]) }, feed),
  get(Path.of("socket", word), { inputs: { credential }, returns: Returns.websocket(texts) }, echo),
];

export default worker([
  ...open("session", session),
  ...open("key", key),
  post(Path.of("begin", "session"), { inputs: { setCookie }, returns: empty }, async ({ setCookie }) => {
    await sessions.start(setCookie, { user: "ada" });
  }),
  post(Path.of("end", "session"), { inputs: { session, setCookie }, returns: empty }, ({ session, setCookie }) =>
    session.close(setCookie)),
  post(Path.of("begin", "key"), { returns: Returns.text }, async () =>
    (await ApiKeys.create(keys, { owner: "ada" })).key),
  post(Path.of("end", "key"), { inputs: { key }, returns: empty }, ({ key }) => ApiKeys.revoke(keys, key.id)),
]);`;

let miniflare: Miniflare;
beforeAll(async () => {
  miniflare = new Miniflare({
    modules: true,
    script: await bundle({ contents: program }),
    compatibilityDate: "2026-07-01",
    compatibilityFlags: ["nodejs_als", "enable_request_signal"],
  });
  await miniflare.ready;
});
afterAll(() => miniflare.dispose());

const ask = (target: string, init?: RequestInit): Promise<Response> =>
  miniflare.dispatchFetch(`http://h${target}`, init);

/** A new session or API key: the headers of its requests. */
async function begun(kind: string): Promise<{ readonly [name: string]: string }> {
  const answer = await ask(`/begin/${kind}`, { method: "POST" });
  if (kind === "key") return { authorization: `Bearer ${await answer.text()}` };
  return { cookie: answer.headers.getSetCookie()[0]?.split(";")[0] ?? "" };
}

describe.each(["session", "key"])("what a %s has open ends when another request ends it", (kind) => {
  it("an event stream", async () => {
    const headers = await begun(kind);
    const feed = await ask(`/feed/${kind}`, { headers });
    const reader = (feed.body as ReadableStream<Uint8Array>).getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toContain("hello");
    const ended = await ask(`/end/${kind}`, { method: "POST", headers });
    expect(ended.status).toBe(204);
    let part = await reader.read();
    while (!part.done) part = await reader.read();
    expect(part.done).toBe(true);
  });

  it("a WebSocket", async () => {
    const headers = await begun(kind);
    const opened = await ask(`/socket/${kind}`, { headers: { ...headers, upgrade: "websocket" } });
    const { webSocket: socket } = opened as Response & { readonly webSocket: WebSocket & { accept(): void } };
    const closed = new Promise<number>((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
    socket.accept();
    const ended = await ask(`/end/${kind}`, { method: "POST", headers });
    expect(ended.status).toBe(204);
    expect(await closed).toBe(1008);
  });
});
