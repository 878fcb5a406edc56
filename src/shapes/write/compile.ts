import type { Kind, Lazy } from "../kind.ts";
import { readyMadeOf } from "../ready-made-table.ts";
import { refuseKind } from "../refuse-kind.ts";
import { writeFree } from "./free.ts";
import { intersectWriter } from "./intersect.ts";
import { listWriter, tupleWriter } from "./list.ts";
import { objectWriter } from "./object.ts";
import { optionalWriter } from "./optional.ts";
import { pipeWriter } from "./pipe.ts";
import { readyMadeWriter } from "./ready-made.ts";
import { recordWriter } from "./record.ts";
import { wordsWriter, writeBoolean, writeNothing, writeNull, writeNumber, writeText } from "./scalar.ts";
import { unionWriter, variantWriter } from "./union.ts";
import type { Write } from "./writing.ts";

const compiled = new WeakMap<Kind, Write>();

/** The writer of a schema, made once for each. */
export function compile(shape: Kind): Write {
  let write = compiled.get(shape);
  if (write === undefined) compiled.set(shape, (write = make(shape)));
  return write;
}

function make(shape: Kind): Write {
  refuseKind(shape);
  const readyMade = readyMadeOf(shape);
  if (readyMade !== undefined) return readyMadeWriter(readyMade);
  if (shape.pipe !== undefined) return pipeWriter(shape, compile);
  if ("entries" in shape) return objectWriter(shape, compile);
  if ("items" in shape) return tupleWriter(shape, compile);
  if ("wrapped" in shape) return optionalWriter(shape, compile);
  switch (shape.type) {
    case "string":
      return writeText;
    case "number":
      return writeNumber;
    case "boolean":
      return writeBoolean;
    case "null":
      return writeNull;
    case "literal":
    case "picklist":
    case "enum":
      return wordsWriter(shape);
    case "record":
      return recordWriter(shape, compile);
    case "array":
      return listWriter(shape, compile);
    case "union":
      return unionWriter(shape, compile);
    case "intersect":
      return intersectWriter(shape, compile);
    case "variant":
      return variantWriter(shape, compile);
    case "lazy":
      return lazyWriter(shape);
    case "never":
    case "undefined":
    case "void":
      return writeNothing;
    default:
      return writeFree;
  }
}

/** A shape that refers to itself, compiled when a value first reaches it. */
function lazyWriter(shape: Lazy): Write {
  let fixed: Write | undefined;
  return (value, writing) => {
    if (fixed !== undefined) return fixed(value, writing);
    const write = compile(shape.getter(value));
    // A getter that looks at the value may answer another shape for the next.
    if (shape.getter.length === 0) fixed = write;
    return write(value, writing);
  };
}
