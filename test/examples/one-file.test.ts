/** The examples of one file each, as `node examples/<name>.ts` runs them. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startProgram } from "../package/start-example.ts";
import type { RunningExample } from "../package/start-example.ts";
import { RedisServer, ownRedis } from "../support/redis.ts";

const start = (name: string, env: NodeJS.ProcessEnv = {}): Promise<RunningExample> =>
  startProgram([process.execPath, join(import.meta.dirname, `../../dist/examples/${name}.js`)], env);

describe("hello", () => {
  it("greets with the name in its path", async () => {
    const hello = await start("hello");
    const response = await fetch(`${hello.url}/hello/Ada%20L`);
    expect([response.status, await response.text()]).toEqual([200, "Hello, Ada L."]);
    expect(await hello.stop()).toBe(0);
  });
});

describe("readings", () => {
  let example: RunningExample;
  beforeAll(async () => {
    example = await start("readings", { MAX_BYTES: "1000000" });
  });
  afterAll(() => example.stop());

  async function post(lines: readonly string[]): Promise<readonly [status: number, json: unknown]> {
    const headers = { "content-type": "application/jsonl" };
    const response = await fetch(`${example.url}/readings`, { method: "POST", headers, body: lines.join("\n") });
    return [response.status, await response.json()];
  }

  const reading = (sensor: string, celsius: unknown) => JSON.stringify({ sensor, celsius, at: "2026-11-23T12:00:00Z" });
  const means = async (query = "") => (await fetch(`${example.url}/means${query}`)).text();

  it("adds the readings of every line, or none", async () => {
    expect(await post([reading("a", 20), reading("b", 10), "", reading("a", 21)])).toEqual([200, { added: 3 }]);
    const [status, refused] = await post([reading("a", 0), reading("b", "warm")]);
    expect([status, refused]).toMatchObject([400, { problems: [{ at: "body.line[2].celsius" }] }]);
    expect((await post([reading("x".repeat(1000), 1)]))[0]).toBe(413);
    expect((await post(Array.from({ length: 20_000 }, () => reading("a", 1))))[0]).toBe(413);
    expect(await means()).toBe('{"sensor":"a","count":2,"celsius":20.5}\n{"sensor":"b","count":1,"celsius":10}\n');
    expect(await means("?least=2")).toBe('{"sensor":"a","count":2,"celsius":20.5}\n');
  });

  it("refuses what would break its answers or fill its memory", async () => {
    const before = await means();
    expect(await post([reading("hot", 1.7e308), reading("hot", 1.7e308)])).toMatchObject([
      400,
      { problems: [{ at: "body.line[1].celsius", code: "too_large" }] },
    ]);
    const sensors = (count: number) => Array.from({ length: count }, (_, i) => reading(`sensor ${i}`, 1));
    for (const count of [9_999, 10_001]) {
      expect(await post(sensors(count))).toMatchObject([409, { error: "too_many_sensors" }]);
    }
    expect(await means()).toBe(before);
    expect(await post(sensors(9_998))).toEqual([200, { added: 9_998 }]);
  });
});

describe("upload", () => {
  const folder = mkdtempSync(join(tmpdir(), "usher-uploads-"));
  let example: RunningExample;
  beforeAll(async () => {
    example = await start("upload", { UPLOADS: folder, MAX_BYTES: "2000000" });
  });
  afterAll(async () => {
    await example.stop();
    rmSync(folder, { recursive: true });
  });

  async function put(
    name: string,
    body: NonNullable<RequestInit["body"]>,
  ): Promise<readonly [status: number, json: unknown]> {
    const response = await fetch(`${example.url}/files/${name}`, { method: "PUT", body, duplex: "half" });
    return [response.status, await response.json()];
  }

  it("stores a file unchanged, and replaces the old one", async () => {
    for (const byte of [7, 8]) {
      const content = new Uint8Array(1_500_000).fill(byte);
      const sha256 = createHash("sha256").update(content).digest("hex");
      expect(await put("a.bin", content)).toEqual([201, { name: "a.bin", bytes: content.length, sha256 }]);
      expect(readFileSync(join(folder, "a.bin")).equals(content)).toBe(true);
    }
    expect(readdirSync(folder)).toEqual(["a.bin"]);
  });

  it.each([
    ["with a length", () => new Uint8Array(2_000_001)],
    ["without one", () => new Blob([new Uint8Array(2_000_001)]).stream()],
  ])("keeps nothing of files that are too large, sent %s", async (_, body) => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => put("large.bin", body())));
    expect(answers).toEqual(answers.map(() => [413, expect.objectContaining({ error: "too_large" })]));
    expect(readdirSync(folder)).toEqual(["a.bin"]);
  });

  it.each(["..%2fa.bin", ".hidden", "a%00", "%2fetc%2fpasswd"])("stores nothing under the name %s", async (name) => {
    const problem = expect.objectContaining({ at: "path.name", code: "malformed" });
    expect(await put(name, "x")).toEqual([400, expect.objectContaining({ problems: [problem] })]);
    expect(readdirSync(folder)).toEqual(["a.bin"]);
  });

  it("removes the partial file when the client leaves in the middle", async () => {
    const client = connect(Number(new URL(example.url).port), "127.0.0.1");
    await once(client, "connect");
    client.write("PUT /files/b.bin HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\n");
    client.write(new Uint8Array(300_000));
    await expect.poll(() => readdirSync(folder)).toEqual([expect.stringMatching(/^\..*\.partial$/), "a.bin"]);
    client.destroy();
    await expect.poll(() => readdirSync(folder)).toEqual(["a.bin"]);
  });
});

describe.skipIf(ownRedis.isSkipped)(`chat${ownRedis.why}`, () => {
  let processes: readonly RunningExample[];
  beforeAll(async () => {
    const { url } = await RedisServer.start();
    processes = await Promise.all([0, 1].map(() => start("chat", { REDIS_URL: url })));
  });
  afterAll(() => Promise.all(processes.map((example) => example.stop())));

  /** A client that is in a room: its first line was echoed. */
  async function enter(process: number, room: string, name: string): Promise<Guest> {
    const url = processes[process]?.url.replace("http", "ws") ?? "";
    const socket = new WebSocket(`${url}/rooms/${room}`);
    const lines: string[] = [];
    socket.on("message", (data) => {
      const line = JSON.parse(String(data)) as { readonly name: string; readonly text: string };
      lines.push(`${line.name}: ${line.text}`);
    });
    await once(socket, "open");
    const say = (text: string): void => socket.send(JSON.stringify({ name, text }));
    say("here");
    await expect.poll(() => lines).toContain(`${name}: here`);
    lines.length = 0;
    return { socket, lines, say };
  }
  interface Guest {
    readonly socket: WebSocket;
    readonly lines: readonly string[];
    readonly say: (text: string) => void;
  }

  it("sends a line to the room in every process, and to no other room", async () => {
    const elsewhere = await enter(1, "kitchen", "Cy");
    const ada = await enter(0, "lobby", "Ada");
    const bob = await enter(1, "lobby", "Bob");
    await expect.poll(() => ada.lines).toEqual(["Bob: here"]);
    ada.say("  hello  ");
    bob.say("hello Ada");
    await expect.poll(() => ada.lines.toSorted()).toEqual(["Ada: hello", "Bob: hello Ada", "Bob: here"]);
    await expect.poll(() => bob.lines.toSorted()).toEqual(["Ada: hello", "Bob: hello Ada"]);
    expect(elsewhere.lines).toEqual([]);
    for (const { socket } of [elsewhere, ada, bob]) socket.close();
  });

  it("closes the socket of a client that sends something else with 1007", async () => {
    const { socket } = await enter(0, "lobby", "Ada");
    socket.send('{"name":"","text":"hello"}');
    expect((await once(socket, "close"))[0]).toBe(1007);
  });

  it("serves the page", async () => {
    const page = await fetch(processes[0]?.url ?? "");
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("<h1>Chat</h1>")]);
  });
});
