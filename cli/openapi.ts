import { DescriptionError } from "../src/openapi/document.ts";
import { document, report } from "../src/openapi/index.ts";
import type { Document, DocumentOptions } from "../src/openapi/index.ts";
import type { Route } from "../src/routing/route.ts";
import { CommandFailure, UsageError, moduleAnd } from "./command.ts";
import type { Command } from "./command.ts";
import { writeOrCheck, jsonDiff } from "./write-or-check.ts";
import { loadRoutes } from "./load-routes.ts";

const help = `usher openapi <module> [options]

Makes the OpenAPI document of the routes that the module exports under the name routes.

  -o, --output FILE    write it there; without, it is printed
      --check FILE     compare it with what is there; the exit code is 1 where they differ, spaces and order aside
      --version 3.1    the version of OpenAPI: 3.2 unless given
      --title TEXT     the API's name: API unless given
      --api-version V  the API's own version: 0 unless given
      --strict         the exit code is 1 where a place is described loosely

Places that are described loosely are listed on standard error with --check and --strict.`;

/** `usher openapi`: the API's document, made or compared. */
export const openapi: Command = {
  name: "openapi",
  summary: "make the OpenAPI document, or check the one there is",
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
    if (version !== "3.1" && version !== "3.2") throw new UsageError(`--version is 3.1 or 3.2, and not ${version}`);
    const routes = await loadRoutes(module);
    const made = documentOf(routes, {
      openapi: version,
      ...(title === undefined ? {} : { title }),
      ...(apiVersion === undefined ? {} : { version: apiVersion }),
    });
    const loose = strict || check !== undefined ? report(routes) : [];
    for (const place of loose) terminal.error(`loose: ${place}\n`);
    const code = writeOrCheck(`${JSON.stringify(made, undefined, 2)}\n`, { output, check }, terminal, differenceOf);
    if (strict && loose.length > 0) throw new CommandFailure(`${counted(loose.length)} described loosely`);
    return code;
  },
};

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

function counted(places: number): string {
  return places === 1 ? "1 place is" : `${places} places are`;
}
