import { clientModule } from "./client/module.ts";
import { moduleAnd } from "./arguments.ts";
import type { Command } from "./command.ts";
import { textDifference } from "./difference.ts";
import { loadRoutes } from "./load-routes.ts";
import { deliver } from "./made.ts";

const help = `usher client <module> [options]

Makes a typed client of the routes that the module exports under the name routes: one TypeScript module that imports
nothing, for programs that cannot import the routes' types.

  -o, --output FILE    write it there; without, it is printed
      --check FILE     compare it with what is there; the exit code is 1 where they differ`;

/** `usher client`: a client as one file. */
export const client: Command = {
  name: "client",
  summary: "make a typed client in one TypeScript file, or check the one there is",
  help,
  async run(args, terminal) {
    const { module, values } = moduleAnd(args, { output: { type: "string", short: "o" }, check: { type: "string" } });
    const text = clientModule(await loadRoutes(module));
    return deliver(text, { output: values.output, check: values.check }, terminal, (before, after) =>
      // A checkout may have given the lines other ends.
      ends(before) === after ? [] : textDifference(ends(before), after),
    );
  },
};

function ends(text: string): string {
  return text.replaceAll("\r\n", "\n");
}
