import { counted } from "../src/counted.ts";
import { DescriptionError } from "../src/openapi/document.ts";
import { document, report } from "../src/openapi/index.ts";
import type { Document, DocumentOptions } from "../src/openapi/index.ts";
import type { Route } from "../src/routing/route.ts";
import { CommandFailure, UsageError, moduleAnd } from "./command.ts";
import type { Command } from "./command.ts";
import { writeOrCheck, jsonDiff } from "./write-or-check.ts";
import { loadModule } from "./load-routes.ts";
import type { LoadedModule } from "./load-routes.ts";

const help = `usher openapi <module> [options]

Generates the OpenAPI document of the routes that the module exports as "routes". If it exports a "refusalFormat" or
"decompress", or an object "options" with them, "cors" or "deadline", the document is as those options of the app make
it.

  -o, --output FILE    write to the file instead of standard output
      --check FILE     compare with the file; exit code 1 if they differ, except in white space and order
      --version 3.1    the version of OpenAPI; 3.2 by default
      --title TEXT     the title of the API; API by default
      --api-version V  the version of the API; 0 by default
      --strict         exit code 1 if a place is described loosely

With --check or --strict, places that are described loosely are listed on standard error.`;

/** `usher openapi`: generates or checks the OpenAPI document. */
export const openapi: Command = {
  name: "openapi",
  summary: "generate the OpenAPI document, or check an existing one",
  help,
  async run(args, terminal) {
    const { module, values } = moduleAnd(args, {
      output: { type: "string", short: "o" },
      check: { type: "string" },
      version: { type: "string" },
      title: { type: "string" },
      "api-version": { type: "string" },
      strict: { type: "boolean" },
    });
    const { output, check, version = "3.2", title, "api-version": apiVersion, strict = false } = values;
    if (version !== "3.1" && version !== "3.2") throw new UsageError(`--version must be 3.1 or 3.2, not ${version}`);
    const { routes, ...exported } = await loadModule(module);
    const current = documentOf(routes, {
      openapi: version,
      ...(title === undefined ? {} : { title }),
      ...(apiVersion === undefined ? {} : { version: apiVersion }),
      ...optionsOf(exported),
    });
    const imprecise = strict || check !== undefined ? report(routes) : [];
    for (const place of imprecise) terminal.error(`loose: ${place}\n`);
    const code = writeOrCheck(`${JSON.stringify(current, undefined, 2)}\n`, { output, check }, terminal, differenceOf);
    if (strict && imprecise.length > 0) throw new CommandFailure(`${placesAre(imprecise.length)} described loosely`);
    return code;
  },
};

/** The options of the app that a document shows. A function `options` is not called: it may connect to a database. */
function optionsOf({ options, ...exported }: Omit<LoadedModule, "routes">): DocumentOptions {
  const all = typeof options === "object" && options !== null ? { ...exported, ...options } : exported;
  const known = Object.entries(all).filter(([name, value]) => shown.has(name) && value !== undefined);
  return Object.fromEntries(known);
}

const shown = new Set(["cors", "deadline", "decompress", "refusalFormat"]);

function documentOf(routes: readonly Route[], options: DocumentOptions): Document {
  try {
    return document(routes, options);
  } catch (thrown) {
    throw thrown instanceof DescriptionError ? new CommandFailure(thrown.message.replace(/^Openapi: ?/, "")) : thrown;
  }
}

function differenceOf(before: string, after: string): readonly string[] {
  return jsonDiff(jsonOf(before), JSON.parse(after));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function placesAre(places: number): string {
  return `${counted(places, "place")} ${places === 1 ? "is" : "are"}`;
}
