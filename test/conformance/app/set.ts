/** Headers that a handler sets, headers that it may not set, and its refusals (rows AN, RF, CK). */
import {
  Answer,
  Codec,
  Cookie,
  Dep,
  Path,
  Query,
  Refusal,
  Returns,
  addHeader,
  get,
  param,
  refuse,
  setCookie,
} from "usher-http";
import type { Route } from "usher-http";

const gone = Refusal.code("gone", { status: 410, doc: "It was here once." });
const nobody = Refusal.code("nobody", { status: 401, doc: "Nobody is signed in.", challenge: 'Test realm="t"' });
const name = Path.str("name");

/** Headers that a handler may not set, by name: each is a 500, and the connection stays open. */
const forbidden: { readonly [name: string]: () => Answer } = {
  "content-length": () => Answer.make("x", { headers: [["Content-Length", "9"]] }),
  "transfer-encoding": () => Answer.make("x", { headers: [["transfer-encoding", "chunked"]] }),
  connection: () => Answer.make("x", { headers: [["Connection", "close"]] }),
  "keep-alive": () => Answer.make("x", { headers: [["keep-alive", "timeout=5"]] }),
  upgrade: () => Answer.make("x", { headers: [["upgrade", "h2c"]] }),
  te: () => Answer.make("x", { headers: [["te", "trailers"]] }),
  trailer: () => Answer.make("x", { headers: [["trailer", "x-a"]] }),
  date: () => Answer.make("x", { headers: [["date", "today"]] }),
  "x-request-id": () => Answer.make("x", { headers: [["x-request-id", "mine"]] }),
  "line-feed": () => Answer.make("x", { headers: [["x-mine", "a\nset-cookie: b"]] }),
  "carriage-return": () => Answer.make("x", { headers: [["x-mine", "a\rb"]] }),
  nul: () => Answer.make("x", { headers: [["x-mine", "a\u0000b"]] }),
  control: () => Answer.make("x", { headers: [["x-mine", "a\u0001b"]] }),
  delete: () => Answer.make("x", { headers: [["x-mine", "a\u007fb"]] }),
  "beyond-ascii": () => Answer.make("x", { headers: [["x-mine", "\u2603"]] }),
  "name-with-blank": () => Answer.make("x", { headers: [["x mine", "a"]] }),
  "empty-name": () => Answer.make("x", { headers: [["", "a"]] }),
  "control-in-type": () => Answer.make("x", { contentType: "text/\u0001plain" }),
  "line-feed-in-location": () => Answer.redirect("/a\nset-cookie: b"),
  "status-1000": () => Answer.make("x", { status: 1000 }),
  "status-103": () => Answer.make("x", { status: 103 }),
  "status-101": () => Answer.make("x", { status: 101 }),
};

const seen = Cookie.named("seen", Codec.int);
const mine = Cookie.named("mine", Codec.string);

export const settings: readonly Route[] = [
  get(
    Path.of("forbidden", name),
    { inputs: { name: param(name) }, returns: Returns.response },
    ({ name }) => forbidden[name]?.() ?? Answer.make("unknown", { status: 404 }),
  ),
  get(
    Path.of("add", name),
    { inputs: { name: param(name), addHeader }, returns: Returns.text },
    ({ name, addHeader }) => (addHeader(name, "a"), "added"),
  ),
  get(
    Path.of("sets"),
    {
      inputs: { fail: Query.default("fail", Codec.bool, false), setCookie, addHeader },
      returns: Returns.text,
      refuses: [gone],
    },
    ({ fail, setCookie, addHeader }) => {
      setCookie(Cookie.make(seen, 1));
      addHeader("X-Seen", "yes");
      return fail ? refuse(gone, "It went.") : "set";
    },
  ),
  get(Path.of("cookies"), { inputs: { setCookie }, returns: Returns.text }, ({ setCookie }) => {
    setCookie(Cookie.make(mine, "v", { path: "/in", maxAgeMs: 59_001 }));
    setCookie(Cookie.make(seen, 2, { httpOnly: false, sameSite: "strict" }));
    setCookie(Cookie.clear(mine));
    return "set";
  }),
];

const raises = Dep.map(Dep.return(1), (): number => {
  throw new Error("a secret in an input");
});

export const refusals: readonly Route[] = [
  get(Path.of("gone"), { returns: Returns.text, refuses: [gone] }, () =>
    refuse(gone, "It went.", { detail: "a secret" }),
  ),
  get(Path.of("gone", "thrown"), { returns: Returns.text, refuses: [gone] }, () => {
    throw refuse(gone, "It went.");
  }),
  get(Path.of("gone", "later"), { returns: Returns.text, refuses: [gone] }, async () => refuse(gone, "It went.")),
  get(Path.of("nobody"), { returns: Returns.text, refuses: [nobody] }, () => refuse(nobody, "Who are you?")),
  get(Path.of("raises"), { returns: Returns.text }, () => {
    throw new Error("a secret");
  }),
  get(Path.of("raises", "later"), { returns: Returns.text }, async () => {
    throw new TypeError("a secret");
  }),
  get(Path.of("raises", "in-input"), { inputs: { raises }, returns: Returns.text }, () => "never"),
  get(Path.of("raises", "nothing"), { returns: Returns.text }, async () => {
    await Promise.reject(undefined);
    return "never";
  }),
];
