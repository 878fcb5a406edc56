/** Better Auth in a mount, and its session as an input of routes. */
import { betterAuth } from "better-auth";
import { memoryAdapter } from "better-auth/adapters/memory";
import { expect, it } from "vitest";
import { Dep, Path, Refusal, Returns, Route, get, refuse, request } from "usher-http";
import { start } from "../../support/node-server.ts";

const signedOut = Refusal.code("signed_out", {
  status: 401,
  doc: "Nobody is signed in.",
  challenge: 'Cookie realm="shop"',
});

it("signs up, signs in, gives the session to a route, and signs out", async () => {
  const auth = betterAuth({
    baseURL: "http://localhost",
    trustedOrigins: ["http://*", "http://localhost"],
    secret: "of a test alone, and long enough for it",
    basePath: "/api/auth",
    database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
    emailAndPassword: { enabled: true },
    telemetry: { enabled: false },
    logger: { disabled: true },
    rateLimit: { enabled: false },
  });
  const user = Dep.join(
    { request },
    async ({ request }) => {
      const headers = new Headers([["cookie", request.header("cookie") ?? ""]]);
      return (await auth.api.getSession({ headers }))?.user ?? refuse(signedOut);
    },
    { refuses: [signedOut] },
  );
  const { port } = await start([
    Route.mount(Path.of("api", "auth"), (request) => auth.handler(request)),
    get(Path.of("me"), { inputs: { user }, returns: Returns.text }, ({ user }) => user.email),
  ]);
  const jar = new Map<string, string>();
  const ask = async (path: string, body?: object): Promise<Response> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        origin: `http://127.0.0.1:${port}`,
        cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; "),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return answer;
  };
  const ada = { email: "ada@shop.example", password: "correct horse", name: "Ada" };
  expect((await ask("/me")).status).toBe(401);
  expect((await ask("/api/auth/sign-up/email", ada)).status).toBe(200);
  expect(await (await ask("/me")).text()).toBe(ada.email);
  expect((await ask("/api/auth/sign-out", {})).status).toBe(200);
  expect((await ask("/me")).status).toBe(401);
  expect((await ask("/api/auth/sign-in/email", { ...ada, password: "wrong horse" })).status).toBe(401);
  expect((await ask("/api/auth/sign-in/email", ada)).status).toBe(200);
  expect((await (await ask("/api/auth/get-session")).json()) as object).toMatchObject({ user: { email: ada.email } });
  expect(await (await ask("/me")).text()).toBe(ada.email);
});
