/** What is kept, or continues, after a credential was checked, and what becomes of it when the credential ends in the middle. */
import { SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import {
  ApiKeys,
  Broadcast,
  Dep,
  Event,
  Header,
  Codec,
  Idempotency,
  Path,
  Refusal,
  Returns,
  Sessions,
  Socket,
  Test,
  clientGone,
  get,
  post,
  refuse,
  setCookie,
  validWhile,
} from "usher-http";
import type { ApiKeysType, Route, Session, SocketType, Validity } from "usher-http";
import { Jwt } from "usher-http/jwt";
import * as v from "valibot";
import { eventually } from "../support/eventually.ts";
import { Conditional } from "usher-http/conditional";
import { messages } from "../support/logs.ts";

/** Waits until it is so. */
const until = (isSo: () => boolean): Promise<void> => eventually(() => expect(isSo()).toBe(true));

const signedOut = Refusal.code("nobody", { status: 401, doc: "Nobody is signed in.", challenge: "Session" });
const Said = Event.text("said");
const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
/** The instant of the requests: what ends by the clock does so 50 ms after it. */
const at = new Date();
const soon = new Date(at.getTime() + 50);
/** Behind the end of all of them. */
const later = new Date(at.getTime() + 600_000);

/** A credential of a user, and what ends it. */
interface Kind {
  readonly user: Dep<string, "nobody" | "signed_out", unknown>;
  readonly headers: { readonly [name: string]: string };
  /** Absent where the clock ends it. */
  readonly end?: () => unknown;
}

const shape = v.object({ user: v.string() });

interface SessionGiven {
  readonly idleMs?: number;
  readonly absoluteMs?: number;
  readonly startedAt?: Date;
  readonly end?: "here" | "elsewhere";
}

async function session(given: SessionGiven): Promise<Kind> {
  const { idleMs = 3_600_000, absoluteMs = 86_400_000, startedAt = at, end } = given;
  const store = Sessions.memory();
  const sessions = Sessions.make({ store, shape, idleMs, absoluteMs, recheckMs: 20 });
  const signIn = post(Path.of("in"), { inputs: { setCookie }, returns: Returns.empty() }, async ({ setCookie }) => {
    await sessions.start(setCookie, { user: "ada" });
  });
  const { headers } = await Test.call(Test.app([signIn]), "POST", "/in", { now: startedAt });
  const cookie = (headers.getSetCookie()[0] ?? "").split(";")[0] ?? "";
  const user = Dep.join(
    { session: sessions.optional },
    ({ session }) => session?.data.user ?? refuse(signedOut, "Please sign in."),
    { refuses: [signedOut] },
  );
  // The same store, as another process has it.
  const elsewhere = Sessions.make({ store, shape, idleMs, absoluteMs });
  const found = (): Promise<Session<{ user: string }> | undefined> =>
    (end === "here" ? sessions : elsewhere).find(cookie.slice("session=".length), at);
  const close = async (): Promise<void> => (await found())?.close(() => {});
  return { user, headers: { cookie }, ...(end === undefined ? {} : { end: close }) };
}

async function key(expiresAt: Date | undefined, end?: (keys: ApiKeysType, id: string) => unknown): Promise<Kind> {
  const keys = ApiKeys.make({ prefix: "shop", store: ApiKeys.memory(), recheckMs: 20 });
  const { key, entry } = await ApiKeys.create(keys, { owner: "ada", expiresAt });
  const user = Dep.map(ApiKeys.input(keys), ({ owner }) => owner);
  return {
    user,
    headers: { authorization: `Bearer ${key}` },
    ...(end === undefined ? {} : { end: () => end(keys, entry.id) }),
  };
}

async function token(claims: { readonly exp: number; readonly iat?: number }, maxAgeMs?: number): Promise<Kind> {
  const secret = new Uint8Array(32).fill(7);
  const signed = new SignJWT({ ...claims, sub: "ada" }).setProtectedHeader({ alg: "HS256" });
  const jwt = await signed.setIssuer("i").setAudience("a").sign(secret);
  const bearer = Jwt.bearer({
    issuer: "i",
    audience: "a",
    keys: Jwt.secrets([secret]),
    algorithms: ["HS256"],
    clockSkewMs: 0,
    ...(maxAgeMs === undefined ? {} : { maxAgeMs }),
  });
  return { user: Dep.map(bearer, ({ sub }) => sub ?? ""), headers: { authorization: `Bearer ${jwt}` } };
}

/** A credential of an application's own, `isValid` until `end`. */
async function own(validity: (isValid: () => boolean) => Validity): Promise<Kind> {
  let isValid = true;
  const user = Dep.join(
    { validWhile },
    ({ validWhile }) => {
      if (!isValid) return refuse(signedOut, "Please sign in.");
      validWhile(validity(() => isValid));
      return "ada";
    },
    { refuses: [signedOut] },
  );
  return { user, headers: {}, end: () => (isValid = false) };
}

const kinds: readonly (readonly [what: string, make: () => Promise<Kind>])[] = [
  ["a session whose user signs out here", () => session({ end: "here" })],
  ["a session that ends in another process", () => session({ end: "elsewhere" })],
  ["a session that is not used", () => session({ idleMs: 60, startedAt: new Date(at.getTime() - 1) })],
  ["a session at its last instant", () => session({ absoluteMs: 3_600_000, startedAt: lastOf(3_600_000) })],
  ["an API key that is revoked here", () => key(undefined, (keys, id) => ApiKeys.revoke(keys, id))],
  ["an API key that is revoked in another process", () => key(undefined, ({ store }, id) => store.expire(id, at))],
  ["an API key that expires", () => key(soon)],
  ["a JWT at its exp", () => token({ exp: soon.getTime() / 1000 })],
  ["a JWT at the age of maxAgeMs", () => token({ exp: 1e11, iat: at.getTime() / 1000 - 1 }, 1050)],
  ["one of the application's, at its instant", () => own(() => ({ until: soon }))],
  ["one of the application's that is not valid any more", () => own((check) => ({ check, everyMs: 10 }))],
  [
    "one of the application's that cannot be checked",
    () => own((isValid) => ({ check: () => orThrow(isValid), everyMs: 5 })),
  ],
];

function lastOf(ms: number): Date {
  return new Date(soon.getTime() - ms);
}

async function orThrow(isValid: () => boolean): Promise<boolean> {
  if (!isValid()) throw new Error("the database is away");
  return true;
}

/** A feed over a hub, by an event stream and by a WebSocket, which shows what a user may see. */
function feedOf({ user, headers }: Kind) {
  const hub = Broadcast.create<typeof Said>();
  const how: string[] = [];
  const held = Dep.scoped(
    { user },
    ({ user }) => user,
    (_user, end) => void how.push(end.how),
  );
  const inputs = { user, held, clientGone, last: Header.default("last-event-id", Codec.string, "") };
  const routes: readonly Route[] = [
    get(Path.of("events"), { inputs, returns: Returns.events([Said]) }, ({ user, clientGone }) => async (send) => {
      await send(Event.make(Said, `hello ${user}`, { id: "1" }));
      const heard = hub.subscribe("all");
      for (;;) {
        const event = await heard.next({ until: clientGone });
        if (event === undefined || !(await send(event)).ok) break;
      }
      heard.unsubscribe();
    }),
    get(Path.of("socket"), { inputs, returns: Returns.websocket(texts) }, ({ user, clientGone }) => async (socket) => {
      await socket.send(`hello ${user}`);
      const heard = hub.subscribe("all");
      for (;;) {
        const event = await heard.next({ until: clientGone });
        if (event === undefined || !(await socket.send("more")).ok) break;
      }
      heard.unsubscribe();
    }),
  ];
  const app = Test.app(routes);
  /** Follows the feed. Resolves at its end with what it showed and how a socket closed. */
  const follow = {
    async events(began: () => void, now = at): Promise<readonly unknown[]> {
      const seen: unknown[] = [];
      const heard = (data: string): void => {
        seen.push(data);
        began();
      };
      const followed = await Test.events(app, "/events", ({ data }) => heard(data), {
        headers,
        now,
      });
      return followed.ok ? [...seen, "end"] : [followed.error.status];
    },
    async socket(began: () => void, now = at): Promise<readonly unknown[]> {
      const seen: unknown[] = [];
      const talk = async (socket: SocketType<string, string>): Promise<void> => {
        for (;;) {
          const got = await socket.receive();
          if (got.ok) began();
          seen.push(got.ok ? got.value : got.error.kind === "closed" ? got.error.code : got.error.kind);
          if (!got.ok) return;
        }
      };
      const opened = await Test.websocket(app, texts, "/socket", talk, { headers, now });
      return opened.ok ? seen : [opened.error.status];
    },
  };
  const isHeard = () => hub.subscribers("all").length > 0;
  return { app, hub, follow, isHeard, how };
}

const ways = [
  ["events", ["hello ada", "end"]],
  ["socket", ["hello ada", 1008]],
] as const;

describe.each(kinds)("%s", (_what, make) => {
  it.each(ways)("ends what is open of it, and opens nothing again: %s", async (way, shown) => {
    const kind = await make();
    const { follow, hub, isHeard, how } = feedOf(kind);
    const followed = follow[way](() => {});
    if (kind.end !== undefined) {
      await until(isHeard);
      await kind.end();
    }
    expect(await followed).toEqual(shown);
    await until(() => how.length === 1);
    expect([isHeard(), how]).toEqual([false, ["answered"]]);
    hub.publish("all", Event.make(Said, "a secret"));
    expect(await follow[way](() => {}, later)).toEqual([401]);
  });
});

describe("what is open of a credential that stays valid", () => {
  it.each(ways)("stays open however often it is checked: %s", async (way) => {
    let checks = 0;
    const kind = await own(() => ({ check: () => ++checks > 0, everyMs: 2, until: new Date(at.getTime() + 1e15) }));
    const { follow, hub, isHeard } = feedOf(kind);
    let seen = 0;
    const followed = follow[way](() => seen++);
    await until(isHeard);
    await until(() => checks >= 10);
    hub.publish("all", Event.make(Said, "more"));
    await until(() => seen === 2);
    hub.close();
    await followed;
  });

  it("outlasts two checks that throw, which are warn lines", async () => {
    let checks = 0;
    const check = async (): Promise<boolean> => {
      checks++;
      if (checks % 3 !== 0) throw new Error("the database is away");
      return true;
    };
    const { follow, hub, isHeard } = feedOf(await own(() => ({ check, everyMs: 2 })));
    const followed = follow.events(() => {});
    await until(isHeard);
    await until(() => checks >= 12);
    expect(isHeard()).toBe(true);
    hub.close();
    await followed;
    expect(messages("warn")).toContain("what keeps a stream or a socket open could not be checked again");
  });

  it("ends where a check does not end", async () => {
    const { follow } = feedOf(await own(() => ({ check: () => new Promise(() => {}), everyMs: 5 })));
    expect(await follow.events(() => {})).toEqual(["hello ada", "end"]);
  });
});

describe.each(kinds)("of %s, what is kept is not shown again", (_what, make) => {
  it("neither a replay of an idempotency key, nor a 304", async () => {
    const { user, ...kind } = await make();
    const once = Idempotency.by(Idempotency.memory(), { caller: user });
    let runs = 0;
    const pay = post(Path.of("pay"), { inputs: { user, once }, returns: Returns.text }, ({ user }) => {
      return `paid by ${user}, ${++runs}`;
    });
    const { validators } = Conditional;
    const tagged = get(Path.of("tagged"), { inputs: { user, validators }, returns: Returns.text }, (given) => {
      given.validators({ etag: "1" });
      return given.user;
    });
    const app = Test.app([pay, tagged]);
    const headers = { ...kind.headers, "idempotency-key": '"k"', "if-none-match": '"1"' };
    const ask = async (now: Date): Promise<readonly unknown[]> => {
      const paid = await Test.call(app, "POST", "/pay", { headers, now });
      const read = await Test.call(app, "GET", "/tagged", { headers, now });
      return [paid.status, paid.status === 200 ? paid.body : "", read.status];
    };
    expect(await ask(at)).toEqual([200, "paid by ada, 1", 304]);
    expect(await ask(at)).toEqual([200, "paid by ada, 1", 304]);
    await kind.end?.();
    expect(await ask(later)).toEqual([401, "", 401]);
    expect(runs).toBe(1);
  });
});
