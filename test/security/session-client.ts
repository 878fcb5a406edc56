/** A client of an app with sessions, whose store records its calls. */
import { createHash } from "node:crypto";
import { Path, Returns, Sessions, Test, get, param, post, setCookie } from "usher-http";
import type { SessionEntry, SessionStore } from "usher-http";
import * as v from "valibot";

/** A store that records its calls. */
export class Watched implements SessionStore {
  readonly inner = Sessions.memory();
  readonly entries = new Map<string, SessionEntry>();
  readonly told: string[] = [];

  async find(digest: string): Promise<SessionEntry | undefined> {
    this.told.push(`find ${digest}`);
    return this.inner.find(digest);
  }
  async save(...[digest, entry, change]: Parameters<SessionStore["save"]>): Promise<void> {
    this.told.push(`${change} ${digest}`);
    this.entries.set(digest, entry);
    await this.inner.save(digest, entry, change);
  }
  async replace(digest: string, next: string, entry: SessionEntry): Promise<boolean> {
    this.told.push(`replace ${digest}`);
    this.entries.set(next, entry);
    return this.inner.replace(digest, next, entry);
  }
  async delete(digest: string): Promise<void> {
    this.told.push(`delete ${digest}`);
    await this.inner.delete(digest);
  }
  sweep(now: Date): Promise<number> {
    return this.inner.sweep(now);
  }
}

export const begin = Date.parse("2026-11-21T12:00:00.000Z");
const name = Path.str("name");
export const Who = v.object({ name: v.string(), visits: v.optional(v.number()) });

/** A server with sessions, a client of it with its cookie, and its clock in seconds. */
export class Client {
  readonly store: Watched;
  readonly sessions: Sessions<v.InferOutput<typeof Who>>;
  readonly app: Test.TestApp;
  cookie: string | undefined = undefined;
  line = "";

  constructor(store = new Watched(), limits = { idleMs: 3_600_000, absoluteMs: 86_400_000 }) {
    this.store = store;
    const sessions = Sessions.make({ store, shape: Who, ...limits });
    this.sessions = sessions;
    this.app = Test.app([
      post(
        Path.of("start", name),
        { inputs: { name: param(name), setCookie }, returns: Returns.text },
        async ({ name, setCookie }) => (await sessions.start(setCookie, { name })).data.name,
      ),
      get(
        Path.of("me"),
        { inputs: { session: sessions.optional, again: sessions.optional }, returns: Returns.text },
        ({ session, again }) => (session === again ? (session?.data.name ?? "nobody") : "another"),
      ),
      get(
        Path.of("mine"),
        { inputs: { session: sessions.required }, returns: Returns.text },
        ({ session }) => session.data.name,
      ),
      post(
        Path.of("rename", name),
        { inputs: { name: param(name), session: sessions.required }, returns: Returns.text },
        async ({ name, session }) => {
          await session.update({ name });
          return session.data.name;
        },
      ),
      post(
        Path.of("renew"),
        { inputs: { session: sessions.required, setCookie }, returns: Returns.text },
        async ({ session, setCookie }) => (await session.renew(setCookie)).data.name,
      ),
      post(
        Path.of("close"),
        { inputs: { session: sessions.required, setCookie }, returns: Returns.empty() },
        ({ session, setCookie }) => session.close(setCookie),
      ),
    ]);
  }

  async call(method: string, target: string, seconds = 0): Promise<string> {
    const headers = this.cookie === undefined ? {} : { cookie: `session=${this.cookie}` };
    const now = new Date(begin + seconds * 1000);
    const answered = await Test.call(this.app, method, target, { headers, now });
    const [line] = answered.headers.getSetCookie();
    if (line !== undefined) {
      this.line = line;
      this.cookie = /^session=([^;]*)/.exec(line)?.[1];
    }
    return answered.body;
  }

  get digest(): string {
    return createHash("sha256")
      .update(this.cookie ?? "")
      .digest("hex");
  }
}
