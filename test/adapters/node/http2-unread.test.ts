/** HTTP/2 clients that open no window: each held 1 MiB for each of its streams. */
import { connect } from "node:http2";
import type { ClientHttp2Session } from "node:http2";
import { expect, it, onTestFinished } from "vitest";
import { Answer, Path, Returns, get } from "usher-http";
import { messages } from "../../support/logs.ts";
import { start } from "../../support/node-server.ts";
import { eventually } from "../../support/eventually.ts";

const length = 1024 * 1024;
const whole = get(Path.of("whole"), { returns: Returns.text }, () => "x".repeat(length));
const stream = get(Path.of("stream"), { returns: Returns.response }, () => {
  async function* parts() {
    for (let i = 0; i < 4; i++) yield Buffer.alloc(length / 4);
  }
  return Answer.stream(parts());
});

function session(port: number, initialWindowSize: number): ClientHttp2Session {
  const client = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize } });
  client.on("error", () => {});
  onTestFinished(() => client.destroy());
  return client;
}

/** The bytes that a stream got, and whether it was reset. */
function asks(client: ClientHttp2Session, path: string) {
  const asked = client.request({ ":path": path });
  const got = { bytes: 0, isReset: false };
  asked.on("data", (part: Buffer) => (got.bytes += part.byteLength));
  asked.on("error", () => (got.isReset = true));
  const ended = new Promise<typeof got>((resolve) => asked.once("close", () => resolve(got)));
  return { got, ended };
}

it.each(["/whole", "/stream"])("are reset past sendBudget, and a client that reads gets all of %s", async (path) => {
  const sendBudget = 4 * length;
  const { port } = await start([whole, stream], { http2: true, sendBudget, sendShare: sendBudget });
  const mute = Array.from({ length: 60 }, () => asks(session(port, 0), path));
  await eventually(() => expect(messages("warn").join()).toMatch(/clients disconnected past sendBudget/));
  // What waits stays within the budget: of a whole response all, of a stream the part.
  const most = path === "/whole" ? 4 : 16;
  await eventually(() => expect(mute.filter(({ got }) => !got.isReset).length).toBeLessThanOrEqual(most));
  const reader = session(port, 1_000_000);
  for (let i = 0; i < 3; i++) expect(await asks(reader, path).ended).toEqual({ bytes: length, isReset: false });
});
