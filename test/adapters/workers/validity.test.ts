/** `validWhile` in a Worker: what is open ends with its credential, though a Worker has no timers but those of its requests. */
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { header } from "../../support/raw-client.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { bundle, start } from "./running.ts";
import type { Running } from "./running.ts";

const program = `
import { Dep, Event, Path, Refusal, Returns, Socket, clientGone, get, post, refuse, validWhile } from "usher-http";
import { worker } from "../../../adapters/workers/index.ts";

const nobody = Refusal.code("nobody", { status: 401, doc: "Nobody is signed in.", challenge: "Session" });
const Said = Event.text("said");
const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
let signedIn = true;
let ended = [];
const aborted = (signal) => new Promise((resolve) => signal.addEventListener("abort", resolve));

const user = (validity) => Dep.join({ validWhile }, ({ validWhile }) => {
  if (!signedIn) return refuse(nobody, "Please sign in.");
  validWhile(validity());
}, { refuses: [nobody] });
const kinds = {
  until: user(() => ({ until: new Date(Date.now() + 200) })),
  check: user(() => ({ check: () => signedIn, everyMs: 50 })),
};
const routes = Object.entries(kinds).flatMap(([kind, user]) => [
  get(Path.of("events", kind), { inputs: { user, clientGone }, returns: Returns.events([Said]) }, ({ clientGone }) => async (send) => {
    await send(Event.make(Said, "one"));
    await aborted(clientGone);
    ended.push("events " + kind + " " + (await send(Event.make(Said, "two"))).ok);
  }),
  get(Path.of("socket", kind), { inputs: { user }, returns: Returns.websocket(texts) }, () => async (socket) => {
    await socket.send("one");
    for await (const text of socket) await socket.send(text);
    ended.push("socket " + kind);
  }),
]);
const out = post(Path.of("out"), { returns: Returns.text }, () => { signedIn = false; return "out"; });
const back = post(Path.of("in"), { returns: Returns.text }, () => { signedIn = true; ended = []; return "in"; });
const told = get(Path.of("told"), { returns: Returns.text }, () => ended.join());
export default worker([...routes, out, back, told]);
`;

let worker: Running;
beforeAll(async () => {
  worker = await start(await bundle({ contents: program }));
});

const handshake = [
  "connection: upgrade",
  "upgrade: websocket",
  "sec-websocket-version: 13",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
];

async function asks(line: string): Promise<string> {
  return (await (await worker.client()).ask(line).answer()).body;
}

/** Opens a stream or a socket of a user who is signed in. */
async function open(what: "events" | "socket", kind: string): Promise<RawClient> {
  expect(await asks("POST /in")).toBe("in");
  const client = await worker.client();
  client.ask(`GET /${what}/${kind}`, what === "socket" ? handshake : []);
  await client.sees("one");
  return client;
}

describe.each(["until", "check"])("what is open ends with its credential, by %s", (kind) => {
  it("an event stream: complete, and its handler can send nothing more", async () => {
    const client = await open("events", kind);
    if (kind === "check") await asks("POST /out");
    const { status, body } = await client.answer();
    expect([status, body]).toEqual([200, expect.not.stringContaining("two")]);
    await eventually(async () => expect(await asks("GET /told")).toBe(`events ${kind} false`));
  });

  it("a WebSocket: by a close with 1008", async () => {
    const client = await open("socket", kind);
    const opened = await client.answer({ toHead: true });
    expect([opened.status, header(opened, "upgrade")]).toEqual([101, "websocket"]);
    expect(await client.frame()).toEqual({ first: 0x81, payload: "one" });
    if (kind === "check") await asks("POST /out");
    const { first, payload } = await client.frame();
    expect([first, payload.slice(0, 2)]).toEqual([0x88, "\u0003\u00f0"]);
    await eventually(async () => expect(await asks("GET /told")).toBe(`socket ${kind}`));
  });
});

it("what is open stays open while its credential is valid", async () => {
  const client = await open("socket", "check");
  await client.answer({ toHead: true });
  await client.frame();
  // Six looks and more.
  await new Promise((resolve) => setTimeout(resolve, 400));
  client.send("\u0081\u0081\0\0\0\0x");
  expect(await client.frame()).toEqual({ first: 0x81, payload: "x" });
});
