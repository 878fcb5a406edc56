/** Sessions of a request that is already answered: no new id can reach the browser. */
import { describe, expect, it } from "vitest";
import { Deadline, Meta, Path, Returns, Sessions, Test, post, setCookie } from "usher-http";
import type { Session, SetCookie } from "usher-http";
import * as v from "valibot";
import { gate } from "../support/gate.ts";
import { messages } from "../support/logs.ts";

type Who = { readonly name: string };
type SetsCookie = (cookie: SetCookie) => void;
type Deed = (session: Session<Who>, set: SetsCookie, sessions: Sessions<Who>) => Promise<unknown>;

/** A browser with a session, whose next request makes this call after its answer. */
async function late(deed: Deed, deadlineMs?: number) {
  const shape = v.object({ name: v.string() });
  const sessions = Sessions.make({ store: Sessions.memory(), shape, idleMs: 60_000, absoluteMs: 60_000 });
  const hold = gate();
  let done: Promise<unknown> = Promise.resolve();
  const start = post(Path.of("start"), { inputs: { setCookie }, returns: Returns.empty() }, async ({ setCookie }) => {
    await sessions.start(setCookie, { name: "kim" });
  });
  // The deadline of this route alone, which on a busy machine may pass before the handler begins.
  const meta = deadlineMs === undefined ? Meta.empty : Meta.empty.add(Meta.deadline, Deadline.make(deadlineMs));
  let hasBegun = false;
  const act = post(
    Path.of("act"),
    { inputs: { session: sessions.required, setCookie }, returns: Returns.empty(), meta },
    async ({ session, setCookie }) => {
      hasBegun = true;
      done = hold.passed.then(() => deed(session, setCookie, sessions));
      done.catch(() => {});
      if (deadlineMs !== undefined) await done;
    },
  );
  const app = Test.app([start, act]);
  const browser = Test.browser(app);
  await browser.call("POST", "/start");
  const id = browser.cookies().get("session");
  let status = 0;
  while (!hasBegun) ({ status } = await browser.call("POST", "/act"));
  expect(browser.cookies().get("session")).toBe(id);
  hold.open();
  const outcome = await done.then(
    () => "done",
    (thrown: Error) => thrown.message,
  );
  return { status, outcome, now: await sessions.find(id, new Date()) };
}

const renew: Deed = (session, set) => session.renew(set);
const start: Deed = (_session, set, sessions) => sessions.start(set, { name: "ann" });

describe("a session whose request is already answered", () => {
  it.each([
    ["renewed", renew],
    ["replaced by another one", start],
  ])("is not %s: the browser would lose its session", async (_what, deed) => {
    const { status, outcome, now } = await late(deed);
    const why = "a session gets a new id before the answer of its request: the cookie could not be sent any more";
    expect([status, outcome, now?.data.name]).toEqual([204, why, "kim"]);
  });

  it.each([
    ["renewed", renew],
    ["replaced by another one", start],
  ])("is not %s after the deadline, and no error is logged", async (_what, deed) => {
    const { status, outcome, now } = await late(deed, 30);
    expect([status, outcome, now?.data.name]).toEqual([503, "That took too long, and was ended.", "kim"]);
    expect(messages("error")).toEqual([]);
  });

  it("can be changed and closed", async () => {
    expect((await late((session) => session.update({ name: "ann" }))).now?.data.name).toBe("ann");
    expect(await late((session, set) => session.close(set))).toMatchObject({ outcome: "done", now: undefined });
  });
});
