/** Plays a script on an app with sessions and on their model, and compares the two after each step. */
import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert";
import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { Path, Refusal, Returns, Sessions, Test, param, post, setCookie } from "usher-http";
import type { SessionEntry, SessionStore } from "usher-http";
import * as v from "valibot";
import { invalid } from "../refusals.ts";
import { HeldStore, quiet } from "./held-store.ts";
import type { HeldCall } from "./held-store.ts";
import { RequestModel, StoreModel, absoluteMs, fresh, idleMs } from "./model.ts";
import type { Answer, Call, Deed } from "./model.ts";
import { browsers } from "./script.ts";
import type { Step } from "./script.ts";

const begin = Date.parse("2026-11-22T12:00:00.000Z");
const whenAllExpired = new Date(begin + 1e12);
const Who = v.object({ name: v.string() });
type Who = v.InferOutput<typeof Who>;

const digestOf = (id: string): string => createHash("sha256").update(id).digest("hex");
const notSignedIn = invalid(["cookie.session", "required", "This is required."]);

interface Request {
  readonly model: RequestModel;
  /** The digest of the id in its cookie. */
  readonly digest: string | undefined;
  readonly browser: number | undefined;
  readonly held: HeldCall[];
  answer: (Answer & { readonly id: string | undefined }) | undefined;
  isOver: boolean;
}

// One of each for all scripts: Node 20 goes through all there ever were with each promise.
const asking = new AsyncLocalStorage<Request>();
/** Which of the two things that its request does at once. */
const deedOf = new AsyncLocalStorage<number>();

/** A call that waits, in the app and in the model. */
interface Waiting {
  readonly request: Request;
  readonly model: Call;
  readonly real: HeldCall;
}

/** An app with sessions, its browsers and its clock. */
export class Play {
  readonly #store: SessionStore;
  readonly #model: StoreModel;
  readonly #app: Test.TestApp;
  #now = begin;
  #names = 0;
  readonly #requests: Request[] = [];
  /** Each browser's cookie. */
  readonly #jars: (string | undefined)[] = Array.from({ length: browsers }, () => undefined);
  /** The ids that a browser was given, by their digests. */
  readonly #ids = new Map<string, string>();
  /** Which sign-in each digest follows from. */
  readonly #signIns = new Map<string, number>();
  /** Digests for which a request got the answer that they have no session. */
  readonly #ended = new Set<string>();

  /** @param store An empty one. @param most How many sessions it holds. */
  constructor(store: SessionStore, most: number) {
    this.#store = store;
    this.#model = new StoreModel(most);
    const held = new HeldStore(store, () => {
      return { held: (asking.getStore() as Request).held, deed: deedOf.getStore() ?? 0 };
    });
    this.#app = appOf(Sessions.make({ store: held, shape: Who, idleMs, absoluteMs }));
  }

  async play(script: readonly Step[]): Promise<void> {
    for (const step of script) {
      await this.#take(step);
      await this.#compare();
    }
    await this.#finish();
    await this.#probe();
    // It holds what the model says, and nothing once that has expired.
    equal(await this.#store.sweep(whenAllExpired), this.#model.sweep(whenAllExpired));
    deepEqual(await this.#kept(), []);
  }

  async #take(step: Step): Promise<void> {
    switch (step.does) {
      case "ask":
        return this.#ask(step.browser, this.#cookie(step), step.deeds, step.isTogether);
      case "wait":
        this.#now += step.ms;
        return;
      case "sweep": {
        const now = new Date(this.#now);
        equal(await this.#store.sweep(now), this.#model.sweep(now));
        return;
      }
      default: {
        const all = this.#waiting();
        const [one] = all.splice(step.pick % all.length, 1);
        if (one === undefined) return;
        if (step.does === "fail") return this.#fail(one, step.isMade);
        const other = step.does === "go both" ? all[step.other % all.length] : undefined;
        return other === undefined ? this.#go(one) : this.#goBoth(one, other);
      }
    }
  }

  #cookie({ cookie, browser, pick }: Step & { readonly does: "ask" }): string | undefined {
    const old = [...this.#ids.values()];
    if (cookie === "an old one") return old[pick % old.length];
    if (cookie === "a made-up one") return "A".repeat(22);
    if (cookie === "no id") return "kim";
    return this.#jars[cookie === "own" ? browser : pick % browsers];
  }

  #ask(browser: number | undefined, id: string | undefined, deeds: readonly Deed[], isTogether: boolean): void {
    const digest = id === undefined || id === "kim" ? undefined : digestOf(id);
    const [now, name] = [new Date(this.#now), `name ${++this.#names}`];
    const model = new RequestModel({ digest, now, deeds, isTogether, name });
    const request: Request = { model, digest, browser, held: [], answer: undefined, isOver: false };
    this.#requests.push(request);
    const does = deeds.join(isTogether ? "-and-" : "-then-");
    const path = does === "start" ? `/start/${name.replace(" ", "%20")}` : `/do/${does}/${name.replace(" ", "%20")}`;
    const headers: Record<string, string> = id === undefined ? {} : { cookie: `session=${id}` };
    void asking.run(request, async () => {
      request.answer = answerOf(await Test.call(this.#app, "POST", path, { headers, now }));
    });
  }

  #waiting(): Waiting[] {
    return this.#requests.flatMap((request) => {
      const real = [...request.held];
      return request.model.calls.map(({ call: model, deed }) => {
        const at = real.findIndex((held) => held.deed === deed && this.#text(held.call) === this.#text(model));
        return { request, model, real: real.splice(at, 1)[0] as HeldCall };
      });
    });
  }

  async #go({ request, model, real }: Waiting): Promise<void> {
    const value = await real.go();
    const expected = this.#make(this.#model, real.call);
    deepEqual(value, expected, this.#text(real.call));
    request.model.goOn(model, real.call, { value });
  }

  /** Either may have been first: the one that fits both results, and the content of the store. */
  async #goBoth(one: Waiting, other: Waiting): Promise<void> {
    const values = await Promise.all([one.real.go(), other.real.go()]);
    const orders = [true, false].map((isOneFirst) => {
      const store = this.#model.copy();
      const first = this.#make(store, (isOneFirst ? one : other).real.call);
      const second = this.#make(store, (isOneFirst ? other : one).real.call);
      return { store, values: isOneFirst ? [first, second] : [second, first] };
    });
    const kept = await this.#kept();
    const came = orders.find((order) => isDeepStrictEqual([order.values, byDigest(order.store)], [values, kept]));
    ok(
      came,
      `${this.#text(one.real.call)} and ${this.#text(other.real.call)} at once: ${JSON.stringify([values, kept])}`,
    );
    this.#model.become(came.store);
    for (const [i, { request, model, real }] of [one, other].entries()) {
      request.model.goOn(model, real.call, { value: values[i] });
    }
  }

  async #fail({ request, model, real }: Waiting, isMade: boolean): Promise<void> {
    await real.fail(isMade);
    if (isMade) this.#make(this.#model, real.call);
    request.model.goOn(model, real.call, "failed");
  }

  /** Has the model make a call; notes which sign-in a new id follows from. */
  #make(store: StoreModel, call: Call): unknown {
    const made = store.make(call);
    if (call.call === "started" && !this.#signIns.has(call.digest)) this.#signIns.set(call.digest, this.#signIns.size);
    if (call.call === "replace") this.#signIns.set(call.next, this.#signIns.get(call.digest) ?? -1);
    return made;
  }

  /** Every request waits for what the model says, or was answered as it says. */
  async #compare(): Promise<void> {
    await quiet();
    for (const request of this.#requests) {
      if (request.isOver) continue;
      const { model, held, answer, browser, digest } = request;
      const waiting = (calls: readonly { readonly call: Call; readonly deed: number }[]) =>
        calls.map(({ call, deed }) => `${deed} ${this.#text(call)}`).toSorted();
      deepEqual(waiting(held), waiting(model.calls));
      const { id, ...told } = answer ?? { id: undefined };
      deepEqual(answer && told, model.answer);
      if (answer === undefined) continue;
      request.isOver = true;
      if (/renewed|closed|started/.test(answer.text) && digest !== undefined) this.#ended.add(digest);
      if (id === undefined) continue;
      if (id !== "") this.#ids.set(digestOf(id), id);
      if (browser !== undefined) this.#jars[browser] = id === "" ? undefined : id;
    }
  }

  async #finish(): Promise<void> {
    for (let [next] = this.#waiting(); next !== undefined; [next] = this.#waiting()) {
      await this.#go(next);
      await this.#compare();
    }
    for (const { answer } of this.#requests) ok(answer, "a request is not answered");
  }

  /** Sends each id that was ever issued: at most one of a sign-in is valid, and none that was ended. */
  async #probe(): Promise<void> {
    const live = new Map<number | undefined, string>();
    for (const [digest, id] of this.#ids) {
      this.#ask(undefined, id, ["read"], false);
      await this.#compare();
      await this.#finish();
      if (this.#requests.at(-1)?.answer?.status !== 200) continue;
      ok(!this.#ended.has(digest), "a session that was ended is signed in");
      const signIn = this.#signIns.get(digest);
      ok(!live.has(signIn), "two live ids follow from one sign-in");
      live.set(signIn, digest);
    }
  }

  async #kept(): Promise<(readonly [digest: string, entry: SessionEntry])[]> {
    const kept: (readonly [string, SessionEntry])[] = [];
    for (const digest of [...this.#signIns.keys()].toSorted()) {
      const entry = await this.#store.find(digest);
      if (entry !== undefined) kept.push([digest, entry]);
    }
    return kept;
  }

  /** A call in words: a digest that it brings is `fresh`, as the model cannot know it. */
  #text(call: Call): string {
    const isNew = call.call === "started";
    return JSON.stringify({ ...call, ...(isNew ? { digest: fresh } : {}), ...("next" in call ? { next: fresh } : {}) });
  }
}

function byDigest({ entries }: StoreModel): readonly (readonly [digest: string, entry: SessionEntry])[] {
  return [...entries].toSorted(([one], [other]) => (one < other ? -1 : 1));
}

function answerOf({ status, body, headers }: Test.Answered): Answer & { readonly id: string | undefined } {
  const set = headers.getSetCookie().at(-1);
  const id = set === undefined ? undefined : (/^session=([^;]*)/.exec(set)?.[1] ?? "");
  const cookie = id === undefined || id === "" ? id : digestOf(id);
  if (status === 400) equal(body, notSignedIn);
  return { status, text: status === 400 ? "nobody" : status === 500 ? "bug" : body, cookie, id };
}

function appOf(sessions: Sessions<Who>): Test.TestApp {
  const name = Path.str("name");
  const does = Path.str("does");
  const told = async (doing: Promise<string>): Promise<string> => {
    try {
      return await doing;
    } catch (thrown) {
      if (thrown instanceof Refusal) return "nobody";
      return /closed/.test((thrown as Error).message) ? "over" : (thrown as Error).message;
    }
  };
  return Test.app([
    post(
      Path.of("start", name),
      { inputs: { name: param(name), setCookie }, returns: Returns.text },
      async ({ name, setCookie }) => {
        await sessions.start(setCookie, { name });
        return "started";
      },
    ),
    post(
      Path.of("do", does, name),
      {
        inputs: { does: param(does), name: param(name), session: sessions.required, setCookie },
        returns: Returns.text,
      },
      async ({ does, name, session, setCookie }) => {
        const deeds: { readonly [D in Deed]: () => Promise<string> } = {
          read: async () => session.data.name,
          update: async () => (await session.update({ name }), "updated"),
          renew: async () => (await session.renew(setCookie), "renewed"),
          close: async () => (await session.close(setCookie), "closed"),
          start: async () => (await sessions.start(setCookie, { name }), "started"),
        };
        const [one, other] = does.split(/-and-|-then-/) as Deed[];
        if (one === undefined) return "";
        if (other === undefined) return deeds[one]();
        if (!does.includes("-and-")) return [await told(deeds[one]()), await told(deeds[other]())].join();
        const both = [one, other].map((does, i) => deedOf.run(i, () => told(deeds[does]())));
        return (await Promise.all(both)).join();
      },
    ),
  ]);
}
