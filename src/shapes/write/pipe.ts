import type { Action, Kind } from "../kind.ts";
import { wholeBy, flattened } from "../pipe-parts.ts";
import { keepsSort } from "../transformations.ts";
import { writeFree } from "./free.ts";
import { writeBoolean, writeNumber, writeText, writeWhole } from "./scalar.ts";
import type { CompileWrite, Write } from "./writing.ts";

/** Transformations whose value is of one sort, whatever they were given. */
const makes: { readonly [type: string]: Write } = {
  parse_boolean: writeBoolean,
  stringify_json: writeText,
  to_boolean: writeBoolean,
  to_number: writeNumber,
  to_string: writeText,
};

/** A pipe is written as what comes out of it: its last schema, or whatever a transformation of its author's made. */
export function pipeWriter(shape: Kind, compile: CompileWrite<Kind>): Write {
  const [first, ...behind] = flattened(shape);
  const whole = wholeBy(first, behind) !== undefined;
  let write = whole ? writeWhole : compile(first);
  for (const item of behind) write = after(item, write, compile);
  return write;
}

function after(item: Kind | Action, write: Write, compile: CompileWrite<Kind>): Write {
  if (item.kind === "schema") return compile(item);
  if (item.kind !== "transformation" || keepsSort.has(item.type)) {
    const narrows = item.type === "integer" || item.type === "safe_integer";
    return narrows && write === writeNumber ? writeWhole : write;
  }
  if (item.type === "to_date")
    throw new Error("v.toDate makes a Date, which is not written as it was sent: use Shape.instant.");
  if (item.type === "to_bigint") throw new Error("v.toBigint makes a bigint, which JSON cannot hold: use Shape.int64.");
  return makes[item.type] ?? writeFree;
}
