import { parseArgs } from "node:util";
import { clashOf, databases, runtimes, samples, tests } from "./choices.ts";
import type { SomeChoices } from "./choices.ts";

export const help = `Makes a project of usher-http.

  npm create usher@latest [folder] [-- options]

  --runtime <node|bun|deno|workers>   where it runs; the default is what runs this command
  --database <none|postgres>          default: what the sample needs, or none
  --sample <hello|api|live>           default: hello, or api with PostgreSQL
      hello   two routes, a dependency and a refusal
      api     orders kept in PostgreSQL
      live    a page that shows messages as they are sent, to all who have it open
  --tests <url|pglite>                what the tests of the SQL of \`api\` run on: a server that TEST_DATABASE_URL
                                      names, or PGlite in their process, on Node; default: url
  --yes, -y                           ask nothing: take the defaults
  --help, -h                          print this
  --version, -v                       print the version

The folder is my-api unless given. It must be empty or not exist. Without a terminal nothing is asked.
With npm, options are after \`--\`. Other package managers take them without: pnpm create usher my-api --yes
`;

/** What a command line asks for. */
export type Request =
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "error"; readonly message: string }
  | {
      readonly kind: "make";
      readonly folder: string | undefined;
      readonly chosen: SomeChoices;
      /** Whether it may ask for what is not given. */
      readonly asks: boolean;
    };

const options = {
  runtime: { type: "string" },
  database: { type: "string" },
  sample: { type: "string" },
  tests: { type: "string" },
  yes: { type: "boolean", short: "y" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

export function read(args: readonly string[]): Request {
  try {
    // Some package managers hand on the `--` before the options.
    const given = args.filter((arg) => arg !== "--");
    const { values, positionals } = parseArgs({ args: given, options, allowPositionals: true });
    if (values.help === true) return { kind: "help" };
    if (values.version === true) return { kind: "version" };
    if (positionals.length > 1) {
      return error(
        `One folder is made at a time. With npm, options are after \`--\`: npm create usher my-api -- --yes`,
      );
    }
    const chosen = {
      runtime: oneOf(runtimes, "runtime", values.runtime),
      database: oneOf(databases, "database", values.database),
      sample: oneOf(samples, "sample", values.sample),
      tests: oneOf(tests, "tests", values.tests),
    };
    const clash = clashOf(chosen);
    if (clash !== undefined) return error(clash);
    return { kind: "make", folder: positionals[0], chosen, asks: values.yes !== true };
  } catch (thrown) {
    // Of an unknown option, Node also says how a folder can have such a name.
    return error(thrown instanceof Error ? thrown.message.replace(/\. To specify .*/s, ".") : String(thrown));
  }
}

function error(message: string): Request {
  return { kind: "error", message };
}

function oneOf<Values extends object>(values: Values, flag: string, given: string | undefined) {
  const known = Object.keys(values) as (keyof Values & string)[];
  const found = known.find((value) => value === given);
  if (given === undefined || found !== undefined) return found;
  throw new Error(`--${flag} is one of ${known.join(", ")}, and not ${JSON.stringify(given)}.`);
}
