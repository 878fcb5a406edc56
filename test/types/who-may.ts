/** Who may: what must read well, and what the compiler must refuse. */
import * as v from "valibot";
import {
  Codec,
  Cookie,
  Cors,
  Dep,
  Keys,
  Path,
  Rate,
  Refusal,
  Returns,
  Sessions,
  client,
  get,
  post,
  refuse,
  setCookie,
} from "usher-http";
import type { Middleware, Route, SessionStore } from "usher-http";

const signedOut = Refusal.code("signed_out", { status: 401, doc: "Nobody.", challenge: "Test" });
const sessions = Sessions.make({
  store: Sessions.memory(),
  shape: v.object({ clerk: v.string() }),
  idleMs: 1000,
  absoluteMs: 1000,
});
const clerk = Dep.join(
  { session: sessions.optional },
  ({ session }) => session?.data.clerk ?? refuse(signedOut, "Please sign in."),
  { refuses: [signedOut] },
);
const slowly = Rate.limit(Rate.make({ limit: 5, perMs: 1000 }), { key: client });

export const removed = get(Path.of("a"), { inputs: { slowly, clerk }, returns: Returns.text }, ({ clerk, slowly }) => {
  // @ts-expect-error a guard returns only whether the request may pass
  slowly.toString();
  return clerk.toUpperCase();
});
/** The codes of the inputs are the route's to its callers. */
type NamesOf<R> = R extends Route<string, string, unknown, unknown, infer Names> ? Names : never;
export const names: readonly NamesOf<typeof removed>[] = ["signed_out", "rate_limited"];
// @ts-expect-error an undeclared code
export const other: NamesOf<typeof removed> = "sold_out";

post(Path.of("b"), { inputs: { setCookie, session: sessions.required }, returns: Returns.empty() }, async (inputs) => {
  await sessions.start(inputs.setCookie, { clerk: "kim" });
  await inputs.session.update({ clerk: "ann" });
  // @ts-expect-error data of another shape
  await inputs.session.update({ name: "ann" });
  // @ts-expect-error data of another shape
  await sessions.start(inputs.setCookie, "kim");
});

const keys = Keys.ring("a".repeat(32), "b".repeat(32));
const seen = Cookie.encrypted(keys, "seen", Codec.instant, { maxAgeMs: 1000 });
get(Path.of("c"), { inputs: { seen: Cookie.optional(seen) }, returns: Returns.text }, ({ seen }) => {
  // @ts-expect-error it may not have been sent
  return seen.toISOString();
});
// @ts-expect-error a value of another type
Cookie.make(seen, "yesterday");

// A store of an application's own need not look at why an entry is saved.
export const own: SessionStore = {
  find: async () => undefined,
  save: async (digest, entry) => void [digest, entry.data],
  replace: async () => false,
  delete: async () => {},
  sweep: async () => 0,
};
// @ts-expect-error a store that cannot renew a session in one step
export const older: SessionStore = {
  find: async () => undefined,
  save: async () => {},
  delete: async () => {},
  sweep: async () => 0,
};
Sessions.make({
  store: Dep.ofResource<SessionStore>("sessions"),
  shape: v.string(),
  idleMs: 1,
  absoluteMs: 1,
  cookie: "s",
});
// @ts-expect-error another resource
Sessions.make({ store: Dep.ofResource<string>("sessions"), shape: v.string(), idleMs: 1, absoluteMs: 1 });

Cors.make({ origins: "any" });
// @ts-expect-error a list, or "any"
Cors.make({ origins: "https://app.example" });

export const middleware: readonly Middleware[] = [
  async (request, next) => {
    const answer = await next();
    return request.route === undefined
      ? answer
      : { ...answer, headers: [...answer.headers, ["x-route", request.route.pattern]] };
  },
  () => new Response(),
];
