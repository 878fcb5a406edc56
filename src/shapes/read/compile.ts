import type { Kind } from "../kind.ts";
import { readyMadeOf } from "../ready-made-table.ts";
import { refuseKind } from "../refuse-kind.ts";
import { fallbackReader } from "./fallback.ts";
import { foreignReader } from "./foreign.ts";
import { freeReader } from "./free.ts";
import { intersectReader } from "./intersect.ts";
import { lazyReader } from "./lazy.ts";
import { listReader } from "./list.ts";
import { objectReader } from "./object.ts";
import { optionalReader } from "./optional.ts";
import { pipeReader } from "./pipe.ts";
import type { Reader } from "./reading.ts";
import { readyMadeReader } from "./ready-made.ts";
import { recordReader } from "./record.ts";
import { booleanReader, nothingReader, nullReader, numberReader, textReader } from "./scalar.ts";
import { tupleReader } from "./tuple.ts";
import { unionReader } from "./union.ts";
import { variantReader } from "./variant.ts";
import { wordsReader } from "./words.ts";

const compiled = new WeakMap<Kind, Reader>();

/** The reader of a schema, made once for each. */
export function compile(shape: Kind): Reader {
  let reader = compiled.get(shape);
  if (reader === undefined) compiled.set(shape, (reader = make(shape)));
  return reader;
}

function make(shape: Kind): Reader {
  refuseKind(shape);
  if (shape.fallback !== undefined) return fallbackReader(shape, compile);
  const readyMade = readyMadeOf(shape);
  if (readyMade !== undefined) return readyMadeReader(readyMade);
  if (shape.pipe !== undefined) return pipeReader(shape, compile);
  if ("entries" in shape) return objectReader(shape, compile);
  if ("items" in shape) return tupleReader(shape, compile);
  if ("wrapped" in shape) return optionalReader(shape, compile);
  switch (shape.type) {
    case "string":
      return textReader(shape);
    case "number":
      return numberReader(shape);
    case "boolean":
      return booleanReader(shape);
    case "null":
      return nullReader(shape);
    case "literal":
      return wordsReader(shape, [shape.literal]);
    case "picklist":
    case "enum":
      return wordsReader(shape, shape.options);
    case "record":
      return recordReader(shape, compile);
    case "array":
      return listReader(shape, compile);
    case "union":
      return unionReader(shape, compile);
    case "intersect":
      return intersectReader(shape, compile);
    case "variant":
      return variantReader(shape, compile);
    case "lazy":
      return lazyReader(shape, compile);
    case "any":
    case "unknown":
      return freeReader;
    case "never":
    case "undefined":
    case "void":
      return nothingReader(shape);
    default:
      return foreignReader(shape);
  }
}
