/** What must hold of one session, whatever the order in which requests that have its cookie reach the store. */
import { expect, it } from "vitest";
import { Refusal, Sessions } from "usher-http";
import type { Session, SessionStore, SetCookie } from "usher-http";
import * as v from "valibot";
import { everyOrder } from "./every-order.ts";
import type { Request, Run } from "./every-order.ts";

const whenAllExpired = new Date(Date.now() + 10 * 86_400_000);

/** Sessions over one store: each request of a test has its own, as each process of a server has. */
export function sessionsIn(store: SessionStore): Sessions<{ name: string }> {
  return Sessions.make({
    store,
    shape: v.object({ name: v.string() }),
    idleMs: 3_600_000,
    absoluteMs: 86_400_000,
  });
}

/** Starts a session and answers its id. */
export async function startIn(store: SessionStore): Promise<string> {
  const set: SetCookie[] = [];
  await sessionsIn(store).start((cookie) => set.push(cookie), { name: "kim" });
  return set[0]?.value as string;
}

/** Tries every order of the calls of the requests below. Each run leaves the store of its test empty. */
export function itHoldsInEveryOrder(empty: () => Promise<SessionStore>): void {
  let id = "";
  let later: Date;
  let cookies: Map<string, SetCookie[]>;

  /** A request that finds the session, and does this with it where it found one. */
  function finds(name: string, then: (session: Session<{ name: string }>, set: SetCookie[]) => unknown): Request {
    return async (store) => {
      const set: SetCookie[] = [];
      cookies.set(name, set);
      const session = await sessionsIn(store).find(id, later);
      if (session === undefined) return "nobody";
      await then(session, set);
      return "done";
    };
  }
  const renew = (name: string): Request => finds(name, (session, set) => session.renew((cookie) => set.push(cookie)));
  const close = (name: string): Request => finds(name, (session, set) => session.close((cookie) => set.push(cookie)));
  const update = (name: string): Request => finds(name, (session) => session.update({ name: "ann" }));

  const rows: readonly (readonly [title: string, requests: Readonly<Record<string, Request>>, orders: number])[] = [
    ["a renewal and a sign-out", { renew: renew("renew"), close: close("close") }, 18],
    ["two renewals", { first: renew("first"), second: renew("second") }, 18],
    ["two renewals and a sign-out", { first: renew("first"), second: renew("second"), close: close("close") }, 906],
    ["a renewal and a change", { renew: renew("renew"), update: update("update") }, 18],
    [
      "a renewal, a change and a sign-out",
      { renew: renew("renew"), update: update("update"), close: close("close") },
      934,
    ],
  ];
  // A thousand sequences of calls to a database take a minute where twelve programs wait for each core.
  it.each(rows)("at most one session survives: %s", async (_title, requests, orders) => {
    const store = await empty();
    const runs = await everyOrder(
      async () => {
        cookies = new Map();
        id = await startIn(store);
        // Late enough that a request that finds the session writes that it was seen, in the last run as in the first.
        later = new Date(Date.now() + 600_000);
        return store;
      },
      requests,
      async (run) => expect(await whatHolds(run)).toEqual(whatMustHold(run)),
    );
    expect(runs).toBe(orders);
  });

  /** The result of a run: the user of each cookie, and the answer to each request. */
  async function whatHolds({ store, calls, outcomes }: Run) {
    const live: string[] = [];
    const isLive = async (id: string) => (await sessionsIn(store).find(id, later)) !== undefined;
    if (await isLive(id)) live.push("the first id");
    for (const [name, set] of cookies) {
      for (const { value } of set) if (value !== "" && (await isLive(value))) live.push(name);
    }
    const setCookies = [...cookies].filter(([, set]) => set.length > 0).map(([name]) => name);
    // Every stored session, also one whose id no client has.
    const kept = await store.sweep(whenAllExpired);
    return { calls, live, kept, setCookies, told: [...outcomes].map(([name, outcome]) => [name, tell(outcome)]) };
  }

  /** The same, by the order in which the one call that ends the old id was made. */
  function whatMustHold({ calls, outcomes }: Run): Awaited<ReturnType<typeof whatHolds>> {
    const names = [...outcomes.keys()];
    const ending = calls.find((call) => /replace|delete/.test(call)) ?? "";
    const winner = names.find((name) => ending.startsWith(`${name} `));
    const foundNobody = (name: string) => calls.indexOf(`${name} find`) > calls.indexOf(ending) && ending !== "";
    const lost = (name: string) => /^(?:renew|first|second)$/.test(name) && name !== winner;
    const live = ending.endsWith("replace") ? [winner as string] : ending === "" ? ["the first id"] : [];
    return {
      calls,
      live,
      kept: live.length,
      setCookies: names.filter((name) => !foundNobody(name) && !lost(name) && name !== "update"),
      told: names.map((name) => [name, foundNobody(name) ? "nobody" : lost(name) ? "cookie.session required" : "done"]),
    };
  }
}

function tell(outcome: PromiseSettledResult<unknown>): string {
  if (outcome.status === "fulfilled") return String(outcome.value);
  if (!(outcome.reason instanceof Refusal)) return String(outcome.reason);
  return outcome.reason.problems.map(({ at, code }) => `${at} ${code}`).join();
}
