import { isListOf, isObject, needs, needsFunction, needsOptions, needsPath, needsText } from "./arguments.ts";
import type { Succeeded } from "./answers/returns-type.ts";
import * as Returns from "./answers/returns.ts";
import type { Awaitable, Dep } from "./inputs/dep.ts";
import { current } from "./logging/context.ts";
import { log } from "./logging/writer.ts";
import { notReady, refuse } from "./refusals.ts";
import type { Refusal } from "./refusals.ts";
import type { Result } from "./result.ts";
import * as Meta from "./routing/meta.ts";
import { of } from "./routing/path.ts";
import type { Path } from "./routing/path.ts";
import { get } from "./routing/route.ts";
import type { Route } from "./routing/route.ts";

/** A service that the server needs, and how to check it. */
export interface Check {
  /** Its name, which the 503 of a failed check lists. */
  readonly name: string;
  /** A failure makes the server not ready; its text goes to the log alone. No time limit is set. */
  readonly probe: () => Awaitable<Result<void, string>>;
}

/** A check. The probe returns an error with the reason, which is logged. A probe that throws is a bug: a 500. */
export function check(name: string, probe: () => Awaitable<Result<void, string>>): Check {
  needsText("Health.check: its name", name);
  needsFunction("Health.check: its probe", probe);
  return { name, probe };
}

/**
 * `GET /livez` answers `ok` while the process can answer at all. `GET /readyz` runs every check concurrently and answers 503
 * `not_ready` with the names of those that failed. A check has no timeout. A server that is stopping is not ready, whatever
 * the checks return. Both answer although the app is overloaded (`Overload.make`).
 *
 * @param checks None unless given: the server is then ready until it stops.
 * @param options Other paths for the two.
 */
export function routes<Live extends string = "/livez", Ready extends string = "/readyz">(
  checks: readonly Check[] = [],
  options: { readonly live?: Path<never, Live>; readonly ready?: Path<never, Ready> } = {},
): readonly [
  Route<"GET", Live, {}, Succeeded<200, string>, never>,
  Route<"GET", Ready, {}, Succeeded<200, string>, "not_ready">,
] {
  needs(isListOf(checks, isObject), "Health.routes: checks", checks, "a list of checks");
  needsOptions("Health.routes", options, "live ready");
  // Without a path, its type is the default's.
  const { live = of("livez") as Path as Path<never, Live>, ready = of("readyz") as Path as Path<never, Ready> } =
    options;
  needsPath("Health.routes: live", live);
  needsPath("Health.routes: ready", ready);
  const meta = Meta.empty.add(Meta.access, "debug").add(Meta.overload, "exempt");
  return [
    get(live, { summary: "Whether the process answers", returns: Returns.text, meta }, () => "ok"),
    get(
      ready,
      {
        summary: "Whether the server can serve",
        inputs: { isStopping },
        returns: Returns.text,
        refuses: [notReady],
        meta,
      },
      ({ isStopping }) => answerReady(checks, isStopping),
    ),
  ];
}

// It describes the server and not the request, so the API document leaves it out.
const isStopping: Dep<() => boolean> = { node: { from: [], compile: () => (request) => () => request.isStopping } };

const stopping = "Not ready: stopping.";

async function answerReady(checks: readonly Check[], isStopping: () => boolean): Promise<"ok" | Refusal<"not_ready">> {
  if (isStopping()) return refuse(notReady, stopping);
  const results = await Promise.all(checks.map(async ({ name, probe }) => ({ name, result: await probe() })));
  const failed: string[] = [];
  for (const { name, result } of results) {
    if (result.ok) continue;
    failed.push(name);
    logFailure(name, result.error);
  }
  if (failed.length > 0) return refuse(notReady, `Not ready: ${failed.join(", ")}.`);
  // It may have begun to stop while the checks ran.
  return isStopping() ? refuse(notReady, stopping) : "ok";
}

function logFailure(name: string, reason: string): void {
  const message = `not ready: ${name}: ${reason}`;
  log({ level: "warn", source: "framework.http", message, fields: {}, context: current() });
}
