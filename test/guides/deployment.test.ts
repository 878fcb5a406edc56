/** What the page on deployment shows: the program, and nginx in front of a server. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { Path, Proxies, Returns, Test, client, get } from "usher-http";
import { freePort } from "../../examples/orders/postgres-server.ts";
import { eventually } from "../support/eventually.ts";
import { openGuide } from "./project.ts";

const guide = openGuide("deployment");
const nginx = "nginx";
// CI has no nginx: the machines of those who change the page may.
const hasNginx = spawnSync(nginx, ["-v"]).status === 0;

it("main.ts listens as its environment variables say, is ready, and ends with SIGTERM", async () => {
  const server = await guide.start("main.ts", { HOST: "0.0.0.0", PORT: "0", TRUSTED_PROXIES: "10.0.0.0/8,192.0.2.1" });
  const at = `http://127.0.0.1:${new URL(server.url).port}`;
  expect(await (await fetch(`${at}/hello`)).text()).toBe("Hello.");
  expect((await fetch(`${at}/readyz`)).status).toBe(200);
  expect(await server.stop()).toBe(0);
});

/** What the page's table says of each platform: its name, the header that arrives, and the count to write. */
const platforms = [...guide.text.matchAll(/^\| ([^|`]+) \| `([\d., ]+)` \| `Proxies\.make\((\d)\)` \|$/gm)].map(
  ([, platform = "", header = "", count = ""]) => [platform, header, Number(count)] as const,
);

it.each(platforms)(
  "the count for %s gives the client, whatever it sends itself: %s, %i",
  async (_platform, header, count) => {
    const route = get(Path.of("client"), { inputs: { client }, returns: Returns.text }, ({ client }) => client);
    const app = Test.app([route], { trustedProxies: Proxies.make(count) });
    for (const forged of ["", "198.51.100.66, ", "198.51.100.66, 198.51.100.67, "]) {
      const headers = [["x-forwarded-for", `${forged}${header}`]] as const;
      expect((await Test.call(app, "GET", "/client", { headers })).body).toBe("203.0.113.9");
    }
  },
);

it("the table has the platforms", () => expect(platforms).toHaveLength(8));

/** A server of each kind of route, behind nginx. */
const program = `import { Answer, Event, Path, Proxies, Returns, Socket, bodyStream, client, get, post, put } from "usher-http";
import { Compress } from "usher-http/compress";
import { Conditional } from "usher-http/conditional";
import { serve } from "usher-http/node";
const tick = Event.text("tick");
const chat = Socket.protocol({ client: Socket.text, server: Socket.text });
const upload = bodyStream({ max: 1 << 30 });
const routes = [
  get(Path.of("client"), { inputs: { client }, returns: Returns.text }, ({ client }) => client),
  get(Path.of("feed"), { returns: Returns.events([tick]) }, () => async (send) => {
    await send(Event.make(tick, "first"));
    await new Promise(() => {});
  }),
  get(Path.of("chat"), { returns: Returns.websocket(chat) }, () => async (socket) => {
    for await (const text of socket) await socket.send(text.toUpperCase());
  }),
  post(Path.of("upload"), { inputs: { upload }, returns: Returns.text }, async ({ upload }) => {
    let bytes = 0;
    for await (const part of upload) bytes += part.length;
    return String(bytes);
  }),
  get(Path.of("note"), { returns: Returns.response }, () =>
    Conditional.answer(Answer.make(JSON.stringify("long".repeat(1000)), { contentType: "application/json" }), { etag: "3" })),
  put(
    Path.of("note"),
    {
      inputs: { precondition: Conditional.requiredPrecondition },
      refuses: [Conditional.preconditionFailed],
      returns: Returns.text,
    },
    ({ precondition }) => precondition({ etag: "3" }) ?? "saved",
  ),
];
await serve(routes, { port: 0, trustedProxies: Proxies.make(["127.0.0.1"]), middleware: [Compress.make()] });
`;

/** The page's configuration, without TLS and with files in the guide's folder. */
function configurationOf(app: string, port: number): string {
  const block = /```nginx\n([^]*?)```/.exec(guide.text)?.[1] as string;
  const site = block
    .replace("127.0.0.1:8080", `127.0.0.1:${new URL(app).port}`)
    .replace("listen 443 ssl", `listen 127.0.0.1:${port}`)
    .replaceAll(/^ *ssl_certificate.*$/gm, "");
  const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => {
    mkdirSync(join(guide.folder, name), { recursive: true });
    return `${name}_temp_path ${join(guide.folder, name)};`;
  });
  const own = `daemon off; master_process off; pid ${join(guide.folder, "pid")}; error_log ${join(guide.folder, "log")};`;
  return `${own} events {} http { access_log off; ${folders.join(" ")}\n${site} }`;
}

describe.skipIf(!hasNginx)("nginx in front of a server", () => {
  let url = "";
  let stop = async (): Promise<void> => {};
  beforeAll(async () => {
    guide.write("proxied.ts", program);
    const server = await guide.start("proxied.ts", {});
    const port = await freePort();
    const file = join(guide.folder, "nginx.conf");
    writeFileSync(file, configurationOf(server.url, port));
    const proxy = spawn(nginx, ["-e", join(guide.folder, "log"), "-c", file], { stdio: "ignore" });
    const closed = once(proxy, "close");
    url = `http://127.0.0.1:${port}`;
    stop = async () => {
      proxy.kill("SIGTERM");
      await Promise.all([closed, server.stop()]);
    };
    await eventually(() => fetch(url));
  });
  afterAll(() => stop());

  it("passes the client's address on", async () => {
    const headers = { "x-forwarded-for": "198.51.100.9" };
    expect(await (await fetch(`${url}/client`, { headers })).text()).toBe("198.51.100.9");
  });

  it("passes an event on before the stream ends", async () => {
    const leaving = new AbortController();
    const { body } = await fetch(`${url}/feed`, { signal: leaving.signal });
    const { value } = (await body?.getReader().read()) ?? {};
    expect(new TextDecoder().decode(value)).toContain("data: first\n");
    leaving.abort();
  });

  it("passes a WebSocket on", async () => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/chat`, { origin: url });
    await once(socket, "open");
    socket.send("hello");
    const [said] = (await once(socket, "message")) as [Buffer];
    expect(said.toString()).toBe("HELLO");
    socket.close();
  });

  it("leaves the tag of a compressed answer as it is, so that a change with it is taken", async () => {
    const read = await fetch(`${url}/note`, { headers: { "accept-encoding": "gzip" } });
    expect(read.headers.get("content-encoding")).toBe("gzip");
    const headers = { "if-match": read.headers.get("etag") ?? "", "accept-encoding": "gzip" };
    const saved = await fetch(`${url}/note`, { method: "PUT", headers });
    expect([saved.status, await saved.text()]).toEqual([200, "saved"]);
  });

  it("passes an upload on that is larger than its own limit", async () => {
    const answered = await fetch(`${url}/upload`, { method: "POST", body: new Uint8Array(3_000_000) });
    expect(await answered.text()).toBe("3000000");
  });

  it.each([
    ["the same site", () => url, 200],
    ["another site", () => "https://evil.example", 403],
  ])("treats the request as %s", async (_, origin, status) => {
    const answered = await fetch(`${url}/upload`, { method: "POST", headers: { origin: origin() }, body: "x" });
    expect(answered.status).toBe(status);
  });
});
