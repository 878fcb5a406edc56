/**
 * Runs a collection of Postman's (format 2.1) as Postman does: its requests in order, and after each one the test scripts of
 * its folders and its own. A script has `tests`, `responseBody`, `responseCode`, `environment` and `pm.globals`; one
 * that asks for anything else fails, and says so.
 */
import { createContext, runInContext } from "node:vm";

export interface Collection {
  readonly item: readonly Item[];
  readonly event?: readonly Script[];
}

/** A folder, or a request. */
interface Item {
  readonly name: string;
  readonly event?: readonly Script[];
  readonly item?: readonly Item[];
  readonly request?: {
    readonly method: string;
    readonly header: readonly { readonly key: string; readonly value: string }[];
    readonly body?: { readonly mode: string; readonly raw?: string };
    readonly url: { readonly raw: string };
  };
}

interface Script {
  readonly listen: string;
  readonly script: { readonly exec: readonly string[] };
}

/** What a script asserted of a response. */
export interface Assertion {
  readonly of: string;
  readonly name: string;
  readonly holds: boolean;
}

/** Every request's assertions, in order. @param variables What stands for `{{NAME}}`; scripts add to it. */
export async function runCollection(
  collection: Collection,
  variables: { readonly [name: string]: string },
): Promise<readonly Assertion[]> {
  const globals = new Map<string, unknown>(Object.entries(variables));
  const assertions: Assertion[] = [];
  for (const { path, request, scripts } of requestsIn(collection.item, [], collection.event)) {
    const filled = (text: string) =>
      text.replaceAll(/\{\{(\w+)\}\}/g, (whole, name) => String(globals.get(name) ?? whole));
    const body = filled(request.body?.raw ?? "");
    const response = await fetch(filled(request.url.raw), {
      method: request.method,
      headers: request.header.map(({ key, value }) => [key, filled(value)]),
      ...(body === "" ? {} : { body }),
    });
    const text = await response.text();
    for (const script of scripts) {
      const tests = ranScript(script, response.status, text, globals);
      for (const [name, holds] of Object.entries(tests)) assertions.push({ of: path, name, holds: holds === true });
    }
  }
  return assertions;
}

interface Request {
  readonly path: string;
  readonly request: NonNullable<Item["request"]>;
  readonly scripts: readonly string[];
}

function requestsIn(items: readonly Item[], folders: readonly string[], outer: readonly Script[] = []): Request[] {
  return items.flatMap(({ name, event = [], item = [], request }) => {
    const names = [...folders, name];
    const events = [...outer, ...event];
    const ofFolder = requestsIn(item, names, events);
    if (request === undefined) return ofFolder;
    const tests = events.filter(({ listen }) => listen === "test");
    const others = events.filter(({ listen, script }) => listen !== "test" && script.exec.join("").trim() !== "");
    if (others.length > 0) throw new Error(`${names.join(" / ")} has a script that is no test: nothing runs it here`);
    return [{ path: names.join(" / "), request, scripts: tests.map(({ script }) => script.exec.join("\n")) }];
  });
}

/** The `tests` of a script; one that throws has failed. */
function ranScript(
  script: string,
  status: number,
  responseBody: string,
  globals: Map<string, unknown>,
): { readonly [name: string]: unknown } {
  const tests: { [name: string]: unknown } = {};
  const pm = {
    globals: {
      get: (name: string) => globals.get(name),
      set: (name: string, value: unknown) => globals.set(name, value),
    },
  };
  const given = { tests, responseBody, responseCode: { code: status }, environment: {}, pm };
  try {
    runInContext(script, createContext(given));
  } catch (error) {
    tests[`the script runs: ${String(error)}, after ${status} ${responseBody}`] = false;
  }
  return tests;
}
