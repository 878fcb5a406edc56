/**
 * The suite of one target: runs every case, and compares the failures with the target's list of deviations.
 *
 * A case is data (`cases/`) for one of the applications of `app/configurations.ts`, which a program (`programs/`)
 * serves in a process of the target's runtime (`targets/`). What a runtime cannot do is listed (`deviations/`).
 */
import http2 from "node:http2";
import type { ClientHttp2Session } from "node:http2";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { App } from "usher-http";
import { serve } from "usher-http/node";
import type { Server } from "usher-http/node";
import { configurations } from "./app/configurations.ts";
import {
  messageCases,
  socketCases,
  stoppedTakeoverCases,
  stoppingCases,
  takeoverCases,
  wireCases,
} from "./cases/index.ts";
import type { Configuration, MessageCase, StoppingCase, WireCase } from "./case.ts";
import { deviations } from "./deviations/index.ts";
import type { Deviation, Deviations } from "./deviations/deviation.ts";
import { askFetch, unaskable } from "./run/fetch.ts";
import { askHttp2, withoutHttp2 } from "./run/http2.ts";
import { nothingCame, patienceMs, shortPatienceMs } from "./run/deadline.ts";
import { askServer } from "./run/message.ts";
import type { Asked } from "./run/message.ts";
import type { Allowance } from "./run/seen.ts";
import { takeSteps } from "./run/wire.ts";
import type { Running, Target } from "./targets/target.ts";

/** Runs every case against the servers of a target. */
export function conforms(target: Target): void {
  describe.each([target.name])("%s", (name) => {
    const listed = deviationsOf(name);
    const { allows, seen } = allowance(listed);
    let server: Running | undefined;
    beforeAll(async () => {
      server = await target.start();
    });
    afterAll(() => server?.stop());
    const started = (): Running => {
      if (server === undefined) throw new Error(`${name} did not start`);
      return server;
    };
    const asked = (server: Running, { name, on = "main" }: MessageCase | WireCase): Asked => {
      const patience =
        deviationOf(listed, name)?.cases[name]?.startsWith(nothingCame) === true ? shortPatienceMs : patienceMs;
      return { port: portOf(server, on), allows, patienceMs: patience };
    };
    const steps = async (server: Running, one: WireCase): Promise<void> => {
      const stepped = { ...server, ...asked(server, one) };
      judge(listed, one.name, await verdict(() => takeSteps(stepped, one.steps)), server);
    };
    const stops = async (one: StoppingCase): Promise<void> => {
      const own = await target.start({ on: "stopping", drainMs: one.drainMs });
      try {
        await steps(own, { ...one, on: "stopping" });
      } finally {
        await own.stop();
      }
    };
    const wire = (configuration: Configuration, cases = wireCases): readonly WireCase[] =>
      cases.filter(({ on = "main" }) => on === configuration);

    it.each(named(messageCases))("%s", async (name, one) => {
      const server = asked(started(), one);
      judge(listed, name, await verdict(() => askServer(server, one, target.network ?? [])), started());
    });
    // One after the other, as they share a body budget.
    it.each(named(wire("small")))("%s", (_name, one) => steps(started(), one));
    together(wire("main"), (one) => steps(started(), one));
    together(wire("wrong"), (one) => steps(started(), one));
    describe.skipIf(target.socketless !== undefined)(`sockets${reason(target.socketless)}`, () => {
      together(wire("main", socketCases), (one) => steps(started(), one));
    });
    describe.skipIf(target.takeoverless !== undefined)(`takeovers${reason(target.takeoverless)}`, () => {
      together(wire("main", takeoverCases), (one) => steps(started(), one));
    });
    describe.skipIf(target.unlimited !== undefined)(`limits${reason(target.unlimited)}`, () => {
      let impatient: Promise<Running> | undefined;
      afterAll(async () => (await impatient)?.stop());
      const opened = target.socketless === undefined ? wire("impatient", socketCases) : [];
      const taken = target.takeoverless === undefined ? wire("impatient", takeoverCases) : [];
      together([...wire("impatient"), ...opened, ...taken], async (one) => {
        impatient ??= target.start({ on: "impatient", drainMs: 0 });
        await steps(await impatient, one);
      });
    });
    describe.skipIf(target.unstoppable !== undefined)(`stopping${reason(target.unstoppable)}`, () => {
      together([...stoppingCases, ...(target.takeoverless === undefined ? stoppedTakeoverCases : [])], stops);
    });

    listsHeaders(listed, seen);
  });
}

function listsHeaders({ writes = {}, lacks = {} }: Deviations, seen: ReadonlySet<string>): void {
  it("writes and lacks the headers that are listed, each of them", () => {
    expect([...seen].toSorted()).toEqual([...Object.keys(writes), ...Object.keys(lacks)].toSorted());
  });
}

/** Concurrent tests, each with its own clients, gates and records: most of them wait, and few need the processor. */
function together<C extends WireCase>(cases: readonly C[], run: (one: C) => Promise<void>): void {
  let begun: ReadonlyMap<string, Promise<unknown>> | undefined;
  it.each(named(cases))("%s", async (name) => {
    // Each test reports its own failure.
    begun ??= new Map(cases.map((one) => [one.name, run(one).catch((error: unknown) => error)]));
    const outcome = begun.get(name);
    expect(outcome).toBeInstanceOf(Promise);
    const wrong = await outcome;
    if (wrong !== undefined) throw wrong;
  });
}

// By its name as a title, which `it.each` shortens when it comes from an object.
function named<C extends { readonly name: string }>(cases: readonly C[]): readonly (readonly [name: string, one: C])[] {
  return cases.map((one) => [one.name, one]);
}

/** Runs every case that a standard `Request` can express with `app.fetch`, without a socket. */
export function fetchConforms(): void {
  describe("fetch", () => {
    const listed = deviationsOf("fetch");
    const apps = new Map<Configuration, App>();
    for (const one of messageCases) {
      const why = unaskable(one);
      it.skipIf(why !== undefined)(`${one.name}${reason(why)}`, async () => {
        const on = one.on ?? "main";
        const { routes, options } = configurations[on];
        const app = apps.get(on) ?? App.make(routes, options);
        apps.set(on, app);
        judge(listed, one.name, await verdict(() => askFetch(app, one)));
      });
    }
  });
}

/**
 * Runs every case that has a meaning in HTTP/2 over one connection for each configuration.
 *
 * @param target The server of the test, instead of `usher-http/node` on the Node that runs the tests.
 * @param list The name of its deviations.
 */
export function http2Conforms(target?: Target, list = "http2"): void {
  describe.each([target?.name ?? "http2"])("%s", () => {
    const listed = deviationsOf(list);
    const { allows, seen } = allowance(listed);
    const servers = new Map<Configuration, Server>();
    const sessions = new Map<Configuration, ClientHttp2Session>();
    let started: Running | undefined;
    beforeAll(async () => {
      started = await target?.start();
    });
    afterAll(async () => {
      for (const session of sessions.values()) session.destroy();
      await Promise.all([...servers.values()].map((server) => server.stop()));
      await started?.stop();
    });
    const urlOf = async (on: Configuration): Promise<string> => {
      if (started !== undefined) return `http://127.0.0.1:${portOf(started, on)}`;
      const { routes, options } = configurations[on];
      const serving = { ...options, port: 0, host: "127.0.0.1", signals: false, drainMs: 0, http2: true };
      const server = servers.get(on) ?? (await serve(routes, serving));
      servers.set(on, server);
      return server.url;
    };
    const connected = async (on: Configuration): Promise<ClientHttp2Session> => {
      const open = sessions.get(on);
      // An answer may have closed it.
      if (open?.closed === false) return open;
      const session = http2.connect(await urlOf(on)).on("error", () => {});
      sessions.set(on, session);
      return session;
    };
    for (const one of messageCases) {
      const why = withoutHttp2(one);
      it.skipIf(why !== undefined)(`${one.name}${reason(why)}`, async () => {
        const ask = () => askHttp2(() => connected(one.on ?? "main"), one, allows);
        judge(listed, one.name, await verdict(ask), started);
      });
    }
    listsHeaders(listed, seen);
  });
}

const reason = (why: string | undefined): string => (why === undefined ? "" : ` (not here: ${why})`);

function portOf({ ports }: Running, on: Configuration): number {
  const port = ports[on];
  if (port === undefined) throw new Error(`nobody serves the configuration ${on}`);
  return port;
}

function deviationsOf(target: string): Deviations {
  const listed = deviations[target];
  if (listed === undefined) throw new Error(`deviations/index.ts has no list for ${target}`);
  return listed;
}

/** The headers that a target's list allows, and those of them that occurred. */
function allowance({ writes = {}, lacks = {} }: Deviations): {
  readonly allows: Allowance;
  readonly seen: ReadonlySet<string>;
} {
  const seen = new Set<string>();
  const allowed = (names: object) => (name: string) => Object.hasOwn(names, name) && (seen.add(name), true);
  return { allows: { writes: allowed(writes), lacks: allowed(lacks) }, seen };
}

/** The failures of a case, as text. */
async function verdict(ask: () => Promise<readonly string[] | void>): Promise<readonly string[]> {
  return ask().then(
    (wrong) => wrong ?? [],
    (error: Error) => [error.message],
  );
}

/** The deviation that lists a case. */
function deviationOf(listed: Deviations, name: string): Deviation | undefined {
  return listed.cases.find(({ cases }) => Object.hasOwn(cases, name));
}

/** A case that is not listed passes, and a listed one fails as its list says. */
function judge(listed: Deviations, name: string, wrong: readonly string[], server?: Running): void {
  const deviation = deviationOf(listed, name);
  const instead = deviation?.cases[name];
  if (instead === undefined) {
    // They are searched in all of its output so far.
    const lastWords = wrong.length > 0 ? server?.lastWords() : undefined;
    expect(wrong, [...wrong, lastWords ?? ""].join("\n")).toEqual([]);
    return;
  }
  if (wrong.length === 0 && deviation?.sometimes) return;
  if (wrong.length === 0) expect.fail("deviations/ lists it, and it went right");
  const text = wrong.join("\n");
  // Text that was visible when no more bytes arrived is not the received text.
  expect(text.startsWith(nothingCame), text).toBe(instead.startsWith(nothingCame));
  expect(text).toContain(instead);
}
