import { Dep, Password, Path, Refusal, Returns, Sessions, json, post, refuse, setCookie } from "usher-http";
import * as v from "valibot";

const sessions = Sessions.make({
  store: Sessions.memory(),
  shape: v.object({ clerk: v.string() }),
  idleMs: 30 * 60_000, // A session ends after half an hour without a request,
  absoluteMs: 8 * 3_600_000, // and after eight hours.
});

const signedOut = Refusal.code("signed_out", { status: 401, doc: "Nobody is signed in.", challenge: "Session" });

/** The name of the signed-in clerk. */
export const clerk = Dep.join(
  { session: sessions.optional },
  ({ session }) => session?.data.clerk ?? refuse(signedOut, "Please sign in."),
  { refuses: [signedOut] },
);

/** The hash of each clerk's password, which is `demo`. In your program: rows of a table. */
const hashes = new Map([["ada", await Password.hash("demo")]]);

const wrongLogin = Refusal.code("wrong_login", { status: 403, doc: "The name or the password is wrong." });
const Login = v.object({ name: v.string(), password: v.string() });

export const signIn = post(
  Path.of("sign-in"),
  { inputs: { login: json(Login), setCookie }, returns: Returns.empty(), refuses: [wrongLogin] },
  async ({ login: { name, password }, setCookie }) => {
    const { isRight } = await Password.verify(hashes.get(name), password);
    if (!isRight) return refuse(wrongLogin, "The name or the password is wrong.");
    await sessions.start(setCookie, { clerk: name });
    return undefined;
  },
);
