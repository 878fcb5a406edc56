/** Where a store comes from: what must compile, and what the compiler must refuse. */
import * as v from "valibot";
import {
  ApiKeys,
  Codec,
  Dep,
  Header,
  Idempotency,
  Path,
  Rate,
  Refusal,
  Returns,
  Sessions,
  Webhook,
  client,
  get,
  post,
  refuse,
  setCookie,
} from "usher-http";
import type { ApiKeyStore, IdempotencyStore, RateStore, RefusesOf, Route, SessionStore } from "usher-http";

const noTenant = Refusal.code("no_tenant", { status: 422, doc: "It names no tenant." });
/** A store for each tenant, which a client names by a header. */
function perTenant<Store>(stores: { readonly [tenant: string]: Store }) {
  return Dep.join(
    { tenant: Header.required("x-tenant", Codec.string) },
    ({ tenant }) => stores[tenant] ?? refuse(noTenant),
    { refuses: [noTenant] },
  );
}
type NamesOf<R> = R extends Route<string, string, unknown, unknown, infer Names> ? Names : never;

// A rate: itself, a resource, an input, none.
declare const counts: RateStore & { readonly close: () => Promise<void> };
const own = Rate.make({ limit: 1, perMs: 1, store: counts });
export const closing: Promise<void> = own.store.close();
const ofResource = Rate.make({ limit: 1, perMs: 1, store: Dep.ofResource<typeof counts>("counts") });
const ofTenant = Rate.make({ limit: 1, perMs: 1, store: perTenant({ a: counts }) });
export const rates: readonly Rate[] = [own, ofResource, Rate.make({ limit: 1, perMs: 1 })];
// @ts-expect-error its input refuses with a code
export const any: Rate = ofTenant;
const slowly = Rate.limit(ofTenant, { key: client });
export const code: RefusesOf<{ it: typeof slowly }> = "no_tenant";
// @ts-expect-error a store of another kind
Rate.make({ limit: 1, perMs: 1, store: Sessions.memory() });
// @ts-expect-error an input of a store of another kind
Rate.make({ limit: 1, perMs: 1, store: Dep.ofResource<SessionStore>("counts") });
// @ts-expect-error a promise of a store
Rate.make({ limit: 1, perMs: 1, store: Promise.resolve(counts) });

export const limited = get(Path.of("a"), { inputs: { slowly }, returns: Returns.text }, () => "");
export const limitedNames: readonly NamesOf<typeof limited>[] = ["no_tenant", "rate_limited"];

// Keys of the same store have its type.
interface OwnKeys extends ApiKeyStore {
  count(): Promise<number>;
}
declare const ownKeys: OwnKeys;
const keys = ApiKeys.make({ prefix: "shop", store: ownKeys });
export const counted: Promise<number> = keys.store.count();
export const managed = [
  keys.store.expire("id", new Date()),
  keys.store.sweep(new Date()),
  keys.store.find("digest"),
  keys.store.get("id"),
  ApiKeys.create(keys, { owner: "ada" }),
  ApiKeys.revoke(keys, "id"),
];
export const annotated: ApiKeys = keys;
const keysOfResource = ApiKeys.make({ prefix: "shop", store: Dep.ofResource<ApiKeyStore>("keys") });
const keysOfTenant = ApiKeys.make({ prefix: "shop", store: perTenant({ a: ownKeys }) });
// @ts-expect-error a resource is no store
keysOfResource.store.sweep(new Date());
// @ts-expect-error their store comes by an input
void ApiKeys.create(keysOfResource, { owner: "ada" });
// @ts-expect-error their store comes by an input
void ApiKeys.revoke(keysOfTenant, "id");
// @ts-expect-error their store comes by an input
void ApiKeys.list(keysOfTenant, "ada");
// @ts-expect-error their store comes by an input
void ApiKeys.rotate(keysOfTenant, "id", { overlapMs: 1 });
// @ts-expect-error a store of another kind
ApiKeys.make({ prefix: "shop", store: Sessions.memory() });
export const keyRoute = post(
  Path.of("b"),
  {
    inputs: { keys: ApiKeys.withStore(keysOfTenant), caller: ApiKeys.input(keysOfTenant).scope("a") },
    returns: Returns.text,
  },
  async ({ keys, caller }) => (await ApiKeys.create(keys, { owner: caller.owner })).key,
);
export const keyNames: readonly NamesOf<typeof keyRoute>[] = ["no_tenant", "signed_out", "not_allowed"];

// Sessions.
const limits = { shape: v.object({ clerk: v.string() }), idleMs: 1, absoluteMs: 1 };
declare const ownSessions: SessionStore & { readonly inner: number };
const sessions = Sessions.make({ ...limits, store: ownSessions });
export const sameType: Sessions<{ clerk: string }> = sessions;
export const swept: Promise<number> = sessions.sweep(new Date());
const sessionsOfResource = Sessions.make({ ...limits, store: Dep.ofResource<SessionStore>("sessions") });
const sessionsOfTenant = Sessions.make({ ...limits, store: perTenant({ a: ownSessions }) });
// @ts-expect-error their store comes by an input
void sessionsOfResource.sweep(new Date());
// @ts-expect-error their store comes by an input
void sessionsOfTenant.find("id", new Date());
// @ts-expect-error a store of another kind
Sessions.make({ ...limits, store: ApiKeys.memory() });
export const sessionRoute = post(
  Path.of("c"),
  {
    inputs: {
      setCookie,
      sessions: sessionsOfTenant.withStore,
      session: sessionsOfTenant.optional,
      other: sessionsOfResource.optional,
    },
    returns: Returns.empty(),
  },
  async ({ setCookie, sessions }) => {
    await sessionsOfResource.start(setCookie, { clerk: "kim" });
    // @ts-expect-error their store comes by an input
    await sessionsOfTenant.start(setCookie, { clerk: "kim" });
    await sessions.start(setCookie, { clerk: "kim" });
    await sessions.sweep(new Date());
  },
);
export const sessionNames: readonly NamesOf<typeof sessionRoute>[] = ["no_tenant"];
// @ts-expect-error an undeclared code
export const otherName: NamesOf<typeof sessionRoute> = "signed_out";

// Idempotency keys and webhooks.
declare const answers: IdempotencyStore;
const caller = Dep.return("everybody");
export const once = [
  Idempotency.by(answers, { caller }),
  Idempotency.by(Dep.ofResource<IdempotencyStore>("answers"), { caller }),
];
const onceOfTenant = Idempotency.by(perTenant({ a: answers }), { caller });
export const onceCode: RefusesOf<{ it: typeof onceOfTenant }> = "no_tenant";
// @ts-expect-error a store of another kind
Idempotency.by(counts, { caller });

const signing = { scheme: "standard", secrets: ["whsec_"] } as const;
export const hooks = [
  Webhook.verify(v.object({}), { ...signing, seen: counts }),
  Webhook.verify(v.object({}), { ...signing, seen: Dep.ofResource<RateStore>("seen") }),
];
const hookOfTenant = Webhook.verify(v.object({}), { ...signing, seen: perTenant({ a: counts }) });
export const hookCode: RefusesOf<{ it: typeof hookOfTenant }> = "no_tenant";
// @ts-expect-error a store of another kind
Webhook.verify(v.object({}), { ...signing, seen: answers });
