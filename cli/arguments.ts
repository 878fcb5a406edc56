import { parseArgs } from "node:util";
import type { ParseArgsConfig } from "node:util";
import { UsageError } from "./command.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;

/** The module a command is called with, and its options. */
export function moduleAnd<const O extends Options>(
  args: readonly string[],
  options: O,
): { readonly module: string; readonly values: ReturnType<typeof parseArgs<{ options: O }>>["values"] } {
  const { positionals, values } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [module, ...more] = positionals;
  if (module === undefined) throw new UsageError("no module is named");
  if (more.length > 0) throw new UsageError(`one module is read, and ${more.length + 1} are named`);
  return { module, values };
}
