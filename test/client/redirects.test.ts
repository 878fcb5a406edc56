/** Answers of another server that the platform's `fetch` and `HttpClient` treat differently: redirects, and reason phrases. */
import type { IncomingHttpHeaders, RequestListener } from "node:http";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { HttpClient } from "usher-http";
import { serverOfTest } from "../support/http-server.ts";

/** Another server, and the requests that it received. */
async function other(answer: RequestListener = (_request, response) => void response.end("fine")) {
  const heads: IncomingHttpHeaders[] = [];
  const { url } = await serverOfTest((request, response) => {
    heads.push(request.headers);
    answer(request, response);
  });
  return { heads, url };
}

describe("redirects that a client with a base follows", () => {
  /** A server that redirects by the path: `/303/…` to the rest. */
  const redirecting = (to = "") =>
    other((request, response): void => {
      const [, status = "", path = ""] = /^\/(30\d)(\/.*)$/.exec(request.url ?? "") ?? [];
      if (status !== "") {
        response.writeHead(Number(status), { location: `${to}${path}` }).end("moved");
        return;
      }
      request.setEncoding("utf8");
      let body = "";
      request.on("data", (part: string) => (body += part));
      request.on("end", () => response.end(`${request.method} ${request.url} ${body}`));
    });

  it("end at another origin, which gets nothing", async () => {
    const away = await other();
    const { url, heads } = await redirecting(away.url);
    const client = HttpClient.make({ baseUrl: url, headers: { "x-api-key": "s3cret" } });
    await expect(client.fetch("/302/x", { redirect: "follow" })).rejects.toThrow(
      `HttpClient.fetch: the URL is not of ${url}`,
    );
    expect([heads.length, away.heads.length]).toEqual([1, 0]);
  });

  it.each([
    [301, "GET", undefined, "GET /x "],
    [302, "POST", "a", "GET /x "],
    [303, "PUT", "a", "GET /x "],
    [307, "POST", "a", "POST /x a"],
    [308, "PUT", "a", "PUT /x a"],
  ])("are followed within it: %i of a %s", async (status, method, body, expected) => {
    const { url, heads } = await redirecting();
    const client = HttpClient.make({ baseUrl: url, headers: { "x-api-key": "key" } });
    const init = { method, redirect: "follow" as const, ...(body === undefined ? {} : { body }) };
    const answered = await client.fetch(`/${status}/307/x`, init);
    expect([answered.status, answered.url, answered.redirected]).toEqual([200, `${url}/x`, true]);
    expect(await answered.text()).toBe(expected);
    expect(heads.map((head) => head["x-api-key"])).toEqual(["key", "key", "key"]);
  });

  it("lead to a URL in UTF-8, as those that the platform follows", async () => {
    const location = Buffer.from("/café").toString("latin1");
    const { url } = await other((request, response) => {
      if (request.url === "/") response.writeHead(302, { location });
      response.end(request.url);
    });
    for (const client of [HttpClient.make({ baseUrl: url }), HttpClient.make()]) {
      expect(await (await client.fetch(`${url}/`, { redirect: "follow" })).text()).toBe("/caf%C3%A9");
    }
  });

  it("end after 20, and when a stream would be sent again", async () => {
    const { url, heads } = await other((_request, response) => void response.writeHead(302, { location: "/" }).end());
    const client = HttpClient.make({ baseUrl: url });
    await expect(client.fetch("/", { redirect: "follow" })).rejects.toThrow("HttpClient.fetch: more than 20 redirects");
    expect(heads).toHaveLength(21);
    const moved = await redirecting();
    const body = new Blob(["a"]).stream();
    const init = { method: "POST", redirect: "follow", body } as const;
    await expect(HttpClient.make({ baseUrl: moved.url }).fetch("/307/x", init)).rejects.toThrow(
      "HttpClient.fetch: a redirect asks for a stream once more",
    );
  });
});

it.each([
  ["of ISO 8859-1", "Non trouv\xe9"],
  ["of UTF-8", Buffer.from("Übergröße 未找到").toString("latin1")],
])("a reason phrase %s does not make a response unreadable", async (_what, phrase) => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.end(`HTTP/1.1 404 ${phrase}\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno`, "latin1");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const answered = await HttpClient.make().fetch(`http://127.0.0.1:${port}/`);
  expect([answered.status, await answered.text()]).toEqual([404, "no"]);
});
