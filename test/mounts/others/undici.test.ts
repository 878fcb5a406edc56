/** `Answer.pass` of what `request` of the package `undici` resolves with, from a server of Node's. */
import type { RequestListener } from "node:http";
import { connect } from "node:net";
import { gunzipSync, gzipSync } from "node:zlib";
import { Agent, request } from "undici";
import { expect, it, onTestFinished } from "vitest";
import { Answer, Path, Refusal, Returns, get, param, refuse } from "usher-http";
import { eventually, stalled } from "../../support/eventually.ts";
import { serverOfTest } from "../../support/http-server.ts";
import { start } from "../../support/node-server.ts";
import { lines } from "../../support/logs.ts";
import { RawClient, header } from "../../support/raw-client.ts";

const down = Refusal.code("upstream_down", { status: 502, doc: "The server behind this one does not answer." });
const path = Path.str("path");

/** Passes on what another server answers, over one connection to it. */
async function inFront(listener: RequestListener): Promise<{ readonly port: number; readonly agent: Agent }> {
  const { url } = await serverOfTest(listener);
  const agent = new Agent({ connections: 1 });
  onTestFinished(() => agent.destroy());
  const { port } = await start([
    get(
      Path.of(path),
      { inputs: { path: param(path) }, returns: Returns.response, refuses: [down] },
      async ({ path }) => {
        const sent = await request(`${url}/${path}`, { dispatcher: agent }).catch(() => undefined);
        return sent === undefined ? refuse(down) : Answer.pass(sent);
      },
    ),
  ]);
  return { port, agent };
}

it("passes on the status, the headers, each cookie and the body, and leaves out what is of the other connection", async () => {
  const { port } = await inFront((_, response) => {
    response.setHeader("set-cookie", ["a=1; Path=/", "b=2"]);
    response.writeHead(404, {
      "content-type": "text/csv",
      "x-kind": "one",
      connection: "x-hop",
      "x-hop": "1",
      etag: '"v"',
    });
    response.end("a,b");
  });
  const got = await fetch(`http://127.0.0.1:${port}/x`);
  expect([got.status, got.headers.getSetCookie(), await got.text()]).toEqual([404, ["a=1; Path=/", "b=2"], "a,b"]);
  const named = ["content-type", "x-kind", "x-hop", "etag", "transfer-encoding"].map((name) => got.headers.get(name));
  expect(named).toEqual(["text/csv", "one", null, '"v"', "chunked"]);
});

it("passes on an encoded body as it is encoded, with its length", async () => {
  const bytes = gzipSync("a line of text\n".repeat(100));
  const { port } = await inFront((_, response) => {
    response.writeHead(200, {
      "content-encoding": "gzip",
      "content-length": bytes.length,
      "content-type": "text/plain",
    });
    response.end(bytes);
  });
  // One byte is one character, as `RawClient` reads it.
  const client = (await RawClient.to(port)).ask("GET /x", ["accept-encoding: gzip"]);
  const answered = await client.answer({ toHead: true });
  expect([header(answered, "content-encoding"), header(answered, "content-length")]).toEqual([
    "gzip",
    `${bytes.length}`,
  ]);
  const body = Buffer.from(await client.bytes(bytes.length), "latin1");
  expect(gunzipSync(body).toString()).toBe("a line of text\n".repeat(100));
});

it("gives the connection back after an answer without a body", async () => {
  const ports = new Set<number | undefined>();
  const { port } = await inFront((asked, response) => {
    ports.add(asked.socket.remotePort);
    response.writeHead(Number(asked.url?.slice(1)), { "x-kind": "empty" }).end();
  });
  for (let round = 0; round < 5; round++)
    for (const status of [204, 304, 205, 404]) {
      const got = await fetch(`http://127.0.0.1:${port}/${status}`);
      expect([got.status, got.headers.get("x-kind"), await got.text()]).toEqual([status, "empty", ""]);
    }
  expect(ports.size).toBe(1);
});

it("ends the other answer when the client leaves, and takes no more of it than the client reads", async () => {
  const total = 64 << 20;
  const ends: boolean[] = [];
  let written = 0;
  const { port } = await inFront((_, response) => {
    const part = Buffer.alloc(65_536);
    response.on("close", () => ends.push(response.writableFinished));
    const write = (): void => {
      while (written < total) {
        written += part.length;
        if (!response.write(part)) return void response.once("drain", write);
      }
      response.end();
    };
    write();
  });
  const client = connect(port, "127.0.0.1").pause();
  onTestFinished(() => void client.destroy());
  client.write("GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await stalled(() => written);
  expect(written).toBeLessThan(total / 2);
  client.destroy();
  await eventually(() => expect(ends).toEqual([false]));
});

it("cuts the connection where the other answer breaks off, and answers the next request", async () => {
  const { port } = await inFront((asked, response) => {
    if (asked.url === "/whole") response.end("whole");
    else {
      response.write("begun");
      setTimeout(() => response.destroy(), 20);
    }
  });
  const url = `http://127.0.0.1:${port}`;
  for (let round = 0; round < 3; round++) {
    const broken = fetch(`${url}/broken`).then((got) => got.text());
    await expect(broken).rejects.toThrow("terminated");
    expect(await (await fetch(`${url}/whole`)).text()).toBe("whole");
  }
});

it("is refused by the app's own code where the other server is down", async () => {
  const { port, agent } = await inFront(() => {});
  await agent.destroy();
  const got = await fetch(`http://127.0.0.1:${port}/x`);
  expect([got.status, ((await got.json()) as { error: string }).error]).toEqual([502, "upstream_down"]);
});

it("is a 500 where its body was read already, and the log says so", async () => {
  const { url } = await serverOfTest((_, response) => void response.end("x"));
  const agent = new Agent();
  onTestFinished(() => agent.destroy());
  const { port } = await start([
    get(Path.root, { returns: Returns.response }, async () => {
      const sent = await request(url, { dispatcher: agent });
      await sent.body.text();
      return Answer.pass(sent);
    }),
  ]);
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(500);
  expect(JSON.stringify(lines())).toContain("a Response whose body is read already");
});
