/** A reverse proxy in a mount, as the guide has it: long bodies both ways in bounded memory, and a server that is down. */
import { once } from "node:events";
import { createServer } from "node:http";
import { describe, expect, it } from "vitest";
import { Path, Refusal, Route, client, refuse } from "usher-http";
import { Compress } from "usher-http/compress";
import { stalled } from "../support/eventually.ts";
import { serverOfTest } from "../support/http-server.ts";
import { start } from "../support/node-server.ts";

const down = Refusal.code("upstream_down", { status: 502, doc: "The server behind this one does not answer." });

/** A mount that sends everything on to another server. */
const proxyTo = (upstream: string) =>
  Route.mount(
    Path.of("api"),
    async (request, { client }) => {
      const { pathname, search, protocol, host } = new URL(request.url);
      const headers = new Headers(request.headers);
      headers.delete("host");
      headers.set("x-forwarded-for", client);
      headers.set("x-forwarded-proto", protocol.slice(0, -1));
      headers.set("x-forwarded-host", host);
      try {
        return await fetch(new Request(`${upstream}${pathname}${search}`, new Request(request, { headers })), {
          redirect: "manual",
        });
      } catch (error) {
        if (request.signal.aborted) throw error;
        return refuse(down, "The server behind this one does not answer.");
      }
    },
    { inputs: { client }, refuses: [down], maxBody: 1 << 30 },
  );

const part = Buffer.alloc(65_536, 97);
const total = 100 * 1024 * 1024;

describe("a proxy", () => {
  it("gets a 304 of the other server, though its client has the tag of a compressed response", async () => {
    const { url } = await serverOfTest((request, response) => {
      const isKnown = request.headers["if-none-match"]?.includes('"one"') === true;
      response.writeHead(isKnown ? 304 : 200, { etag: '"one"', "content-type": "text/plain" });
      response.end(isKnown ? undefined : "x".repeat(4096));
    });
    const feed = Route.mount(Path.of("feed"), ({ headers }) => {
      const known = headers.get("if-none-match");
      return fetch(url, { headers: known === null ? {} : { "if-none-match": known } });
    });
    const { port } = await start([feed], { middleware: [Compress.make()] });
    const first = await fetch(`http://127.0.0.1:${port}/feed`, { headers: { "accept-encoding": "gzip" } });
    const etag = first.headers.get("etag");
    expect([first.status, etag, (await first.text()).length]).toEqual([200, '"one-gzip"', 4096]);
    const conditions = { "accept-encoding": "gzip", "if-none-match": String(etag) };
    const again = await fetch(`http://127.0.0.1:${port}/feed`, { headers: conditions });
    expect([again.status, again.headers.get("etag")]).toEqual([304, '"one-gzip"']);
  });

  it("sets X-Forwarded-*, and passes on redirects as they are", async () => {
    const { url } = await serverOfTest((request, response) => {
      if (request.url === "/api/moved") response.writeHead(302, { location: "/elsewhere" }).end();
      else response.end(JSON.stringify(request.headers));
    });
    const { port } = await start([proxyTo(url)]);
    const seen = (await (await fetch(`http://127.0.0.1:${port}/api/x`)).json()) as { [name: string]: string };
    expect(seen).toMatchObject({
      host: url.slice("http://".length),
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-proto": "http",
      "x-forwarded-host": `127.0.0.1:${port}`,
    });
    const moved = await fetch(`http://127.0.0.1:${port}/api/moved`, { redirect: "manual" });
    expect([moved.status, moved.headers.get("location")]).toEqual([302, "/elsewhere"]);
  });

  it("sends 100 MiB up and down, no faster than the other end reads", async () => {
    let received = 0;
    let written = 0;
    let hold: (() => void) | undefined;
    const { url } = await serverOfTest((request, response) => {
      if (request.method === "GET") {
        const more = (): void => {
          while (written < total) {
            written += part.length;
            if (!response.write(part)) return void response.once("drain", more);
          }
          response.end();
        };
        return more();
      }
      request.on("data", (data: Buffer) => (received += data.length));
      request.pause();
      hold = () => void request.resume();
      request.on("end", () => response.end(String(received)));
    });
    const { port } = await start([proxyTo(url)]);
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new Uint8Array(part));
        if ((sent += part.length) >= total) controller.close();
      },
    });
    const uploading = fetch(`http://127.0.0.1:${port}/api/up`, { method: "POST", body, duplex: "half" });
    await stalled(() => sent);
    expect(sent - received).toBeLessThan(total / 2);
    hold?.();
    expect(await (await uploading).text()).toBe(String(total));

    const reader = ((await fetch(`http://127.0.0.1:${port}/api/down`)).body as ReadableStream<Uint8Array>).getReader();
    await stalled(() => written);
    expect(written).toBeLessThan(total / 2);
    let read = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) read += part.value.length;
    expect(read).toBe(total);
  });

  it("is a 502 of the app while the other server is down", async () => {
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const { port: free } = closed.address() as { port: number };
    closed.close();
    const { port } = await start([proxyTo(`http://127.0.0.1:${free}`)]);
    const answer = await fetch(`http://127.0.0.1:${port}/api/x`);
    expect([answer.status, await answer.json()]).toMatchObject([502, { error: "upstream_down" }]);
  });

  it("is a 502 if the other server closes before it answers", async () => {
    const { url } = await serverOfTest((request) => request.socket.destroy());
    const { port } = await start([proxyTo(url)]);
    expect((await fetch(`http://127.0.0.1:${port}/api/x`)).status).toBe(502);
  });
});
