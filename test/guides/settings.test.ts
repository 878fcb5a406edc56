/** The pages on settings, ports and large uploads. */
import { once } from "node:events";
import { createInterface } from "node:readline";
import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import { App } from "usher-http";
import type { Middleware } from "usher-http";
import { freePort } from "../../examples/orders/postgres-server.ts";
import { openGuide } from "./project.ts";

type Env = Readonly<Record<string, string | undefined>>;

describe("settings", () => {
  const guide = openGuide("settings");
  const read = async (env: Env) =>
    (await guide.load<{ readSettings: (env: Env) => unknown }>("settings.ts")).readSettings(env);
  const whole = { DATABASE_URL: "postgres://shop:hunter2@db/shop", KEYS: "k".repeat(32) };

  it("have their defaults and types", async () => {
    const defaults = { ...whole, PORT: 8080, HOST: "localhost", TRUSTED_PROXIES: [] };
    expect(await read(whole)).toEqual(defaults);
    expect(await read({ ...whole, PORT: "", HOST: "" })).toEqual(defaults);
    expect(await read({ ...whole, PORT: "0", HOST: "::", TRUSTED_PROXIES: "10.0.0.1,10.0.0.2" })).toEqual({
      ...whole,
      PORT: 0,
      HOST: "::",
      TRUSTED_PROXIES: ["10.0.0.1", "10.0.0.2"],
    });
  });

  it.each([
    ["nothing", {}, "DATABASE_URL, KEYS"],
    ["a port that is no number", { ...whole, PORT: "http" }, "PORT"],
    ["a port past the last one", { ...whole, PORT: "65536" }, "PORT"],
    ["half a port", { ...whole, PORT: "80.5" }, "PORT"],
    ["a short key", { ...whole, KEYS: "hunter2" }, "KEYS"],
    ["a URL that is none", { ...whole, DATABASE_URL: "hunter2" }, "DATABASE_URL"],
  ])("%s is an error with names alone", async (_what, env, names) => {
    await expect(read(env)).rejects.toThrow(`set these environment variables: ${names}`);
    await expect(read(env)).rejects.not.toThrow("hunter2");
  });

  it("the program listens as they say, and hands them to routes", async () => {
    const server = await guide.start("main.ts", { ...whole, PORT: "0" });
    expect(await (await fetch(`${server.url}/where`)).text()).toBe("on port 0");
    expect(await server.stop()).toBe(0);
  });
});

describe("ports", () => {
  const guide = openGuide("ports");

  it("two servers have their own routes, and both stop with the program", async () => {
    const [outer, inner] = [await freePort(), await freePort()];
    const child = spawn(process.execPath, [guide.path("server.ts")], {
      env: { PORTS: `${outer},${inner}` },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const closed = once(child, "close");
    let listening = 0;
    for await (const line of createInterface(child.stderr)) {
      if (line.includes("listening on") && ++listening === 2) break;
    }
    const status = async (port: number, path: string) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      await answer.body?.cancel();
      return answer.status;
    };
    expect([
      await status(outer, "/hello"),
      await status(outer, "/metrics"),
      await status(outer, "/readyz"),
      await status(inner, "/hello"),
      await status(inner, "/metrics"),
      await status(inner, "/readyz"),
    ]).toEqual([200, 404, 404, 404, 200, 200]);
    child.kill("SIGTERM");
    expect((await closed)[0]).toBe(0);
  });

  it("port 80 redirects every path to the host of the program", async () => {
    const { toHttps } = await guide.load<{ toHttps: Middleware }>("redirect.ts");
    const app = App.make([], { middleware: [toHttps] });
    const asked = ["http://evil.example/orders?page=2", "http://shop.example//evil.example/"].map(async (url) => {
      const { status, headers } = await app.fetch(new Request(url));
      return [status, headers.get("location")];
    });
    expect(await Promise.all(asked)).toEqual([
      [308, "https://shop.example/orders?page=2"],
      [308, "https://shop.example//evil.example/"],
    ]);
  });
});

describe("uploads refused with 413", () => {
  const guide = openGuide("upload-413");

  it("past `maxBody` for a body in memory, and not for a stream", async () => {
    const server = await guide.start("server.ts", { PORT: "0" });
    const ask = async (method: string, path: string, size: number) => {
      const answer = await fetch(`${server.url}${path}`, { method, body: Buffer.alloc(size) });
      return [answer.status, await answer.text()];
    };
    expect(await ask("POST", "/small", 8 * 1024 * 1024)).toEqual([200, "8388608 bytes"]);
    expect(await ask("POST", "/small", 8 * 1024 * 1024 + 1)).toEqual([413, expect.stringContaining("too_large")]);
    expect(await ask("PUT", "/large", 8 * 1024 * 1024 + 1)).toEqual([200, "8388609 bytes"]);
    expect(await server.stop()).toBe(0);
  });
});
