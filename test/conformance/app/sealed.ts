/** Routes that wait for WebCrypto: sealed cookies and sessions (rows SK, SE). */
import { Codec, Cookie, Keys, Path, Returns, Sessions, get, now, setCookie } from "usher-http";
import type { Route, SetCookie } from "usher-http";
import * as v from "valibot";

const keys = Keys.ring("a secret of thirty-two bytes, or a few more");
const who = Cookie.signed(keys, "who", Codec.string, { maxAgeMs: 60_000 });
const draft = Cookie.encrypted(keys, "draft", Codec.string, { maxAgeMs: 60_000 });
const sessions = Sessions.make({
  store: Sessions.memory(),
  shape: v.object({ name: v.string() }),
  idleMs: 60_000,
  absoluteMs: 60_000,
});

export const sealed: readonly Route[] = [
  get(
    Path.of("sealed"),
    { inputs: { who: Cookie.optional(who), draft: Cookie.optional(draft) }, returns: Returns.text },
    ({ who, draft }) => `${who} ${draft}`,
  ),
  get(Path.of("seals"), { inputs: { setCookie }, returns: Returns.text }, ({ setCookie }) => {
    setCookie(Cookie.make(who, "kim"));
    return "sealed";
  }),
  // Within one request: on Workers the next one may run in another isolate.
  get(Path.of("session"), { inputs: { now }, returns: Returns.text }, async ({ now }) => {
    const set: SetCookie[] = [];
    await sessions.start((cookie) => set.push(cookie), { name: "kim" });
    const id = set[0]?.value;
    const found = await sessions.find(id, new Date());
    await found?.close(() => {});
    const after = await sessions.find(id, now);
    return `${id?.length} ${found?.data.name} ${after?.data.name}`;
  }),
];
