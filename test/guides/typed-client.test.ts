/** The page on the typed client: its jar keeps the cookies of a sign-in, outside of a browser. */
import { afterAll, expect, it } from "vitest";
import { Answer, Client, Codec, Cookie, Path, Returns, Sessions, get, post, setCookie } from "usher-http";
import { serve } from "usher-http/node";
import * as v from "valibot";
import { openGuide } from "./project.ts";

const { withCookies } = await openGuide("typed-client").load<{
  withCookies: () => (request: Request) => Promise<Response>;
}>("jar.ts");

const sessions = Sessions.make({
  store: Sessions.memory(),
  shape: v.object({ user: v.string() }),
  idleMs: 60_000,
  absoluteMs: 60_000,
});
const theme = Cookie.named("theme", Codec.string);
const routes = [
  post(Path.of("sign-in"), { inputs: { setCookie }, returns: Returns.empty() }, async ({ setCookie }) => {
    setCookie(Cookie.make(theme, "dark=1"));
    await sessions.start(setCookie, { user: "ada" });
  }),
  post(
    Path.of("sign-in-form"),
    { inputs: { setCookie }, returns: Returns.responses({ 303: "Signed in." }) },
    async ({ setCookie }) => {
      await sessions.start(setCookie, { user: "eve" });
      return Answer.redirect("/me", { status: 303 });
    },
  ),
  post(Path.of("away"), { returns: Returns.responses({ 303: "Elsewhere." }) }, () =>
    Answer.redirect("http://elsewhere.invalid/", { status: 303 }),
  ),
  post(
    Path.of("sign-out"),
    { inputs: { session: sessions.optional, setCookie }, returns: Returns.empty() },
    async ({ session, setCookie }) => session?.close(setCookie),
  ),
  get(
    Path.of("me"),
    { inputs: { session: sessions.optional, theme: Cookie.optional(theme) }, returns: Returns.text },
    ({ session, theme }) => `${session?.data.user ?? "nobody"} ${theme ?? ""}`,
  ),
] as const;

const server = await serve(routes, { port: 0 });
afterAll(() => server.stop());

it("is one user from the sign-in to the sign-out, and no other's", async () => {
  const user = () => Client.of<typeof routes>({ baseUrl: server.url, fetch: withCookies() });
  const [ada, other] = [user(), user()];
  const who = async (api: typeof ada) => {
    const me = await api["GET /me"]({});
    return me.ok ? me.value : me.error;
  };
  expect(await who(ada)).toBe("nobody ");
  expect(await ada["POST /sign-in"]({})).toMatchObject({ status: 204 });
  expect([await who(ada), await who(other)]).toEqual(["ada dark=1", "nobody "]);
  expect(await ada["POST /sign-out"]({})).toMatchObject({ status: 204 });
  expect(await who(ada)).toBe("nobody dark=1");
});

it("signs in where the cookie comes with a redirect, and takes its cookies to no other server", async () => {
  const api = Client.of<typeof routes>({ baseUrl: server.url, fetch: withCookies() });
  expect(await api["POST /sign-in-form"]({})).toMatchObject({ status: 200, value: "eve " });
  expect(await api["GET /me"]({})).toMatchObject({ value: "eve " });
  expect(await api["POST /away"]({})).toMatchObject({ ok: false, status: 303 });
});
