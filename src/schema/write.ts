import { abandon } from "../async.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import { jsonPath } from "./messages.ts";
import { LongInteger, withDigits } from "./parse-json.ts";
import { kindOf, builtInOf, refuseKind } from "./valibot.ts";
import { isCompiled } from "./standard.ts";
import type { AnyStandard } from "./standard.ts";
import { standardWriter } from "./write-standard.ts";
import type { Kind, Lazy } from "./valibot.ts";
import {
  intersectWriter,
  listWriter,
  objectWriter,
  optionalWriter,
  pipeWriter,
  recordWriter,
  tupleWriter,
  unionWriter,
  variantWriter,
} from "./write-container.ts";
import {
  JsonWriting,
  builtInWriter,
  wordsWriter,
  writeBoolean,
  writeAny,
  writeNothing,
  writeNull,
  writeNumber,
  writeText,
} from "./writing.ts";
import type { WriteValue } from "./writing.ts";

const compiled = new WeakMap<Kind, WriteValue>();

/** The writer of a schema, made once. */
function compileWrite(shape: Kind): WriteValue {
  let write = compiled.get(shape);
  if (write === undefined) compiled.set(shape, (write = make(shape)));
  return write;
}

function make(shape: Kind): WriteValue {
  refuseKind(shape);
  const builtIn = builtInOf(shape);
  if (builtIn !== undefined) return builtInWriter(builtIn);
  if (shape.pipe !== undefined) return pipeWriter(shape, compileWrite);
  if ("entries" in shape) return objectWriter(shape, compileWrite);
  if ("items" in shape) return tupleWriter(shape, compileWrite);
  if ("wrapped" in shape) return optionalWriter(shape, compileWrite);
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
      return recordWriter(shape, compileWrite);
    case "array":
      return listWriter(shape, compileWrite);
    case "union":
      return unionWriter(shape, compileWrite);
    case "intersect":
      return intersectWriter(shape, compileWrite);
    case "variant":
      return variantWriter(shape, compileWrite);
    case "lazy":
      return lazyWriter(shape);
    case "never":
    case "undefined":
    case "void":
      return writeNothing;
    default:
      return writeAny;
  }
}

/** A recursive shape, compiled when a value first reaches it. */
function lazyWriter(shape: Lazy): WriteValue {
  let fixed: WriteValue | undefined;
  return (value, writing) => {
    if (fixed !== undefined) return fixed(value, writing);
    const write = compileWrite(shape.getter(value));
    // A getter that depends on the value may return another shape for the next.
    if (shape.getter.length === 0) fixed = write;
    return write(value, writing);
  };
}

/** Writes the values of a shape as JSON. */
export interface JsonWriter<in A> {
  /** The JSON text, or an error for the log with the place of an invalid value, never with the value. */
  readonly write: (value: A) => Result<string, string>;
}

const surrogateEscape = "\\ud";

/**
 * Makes the writer of a shape, once, with the app. Undeclared members are not written; bounds are checked only on reading.
 *
 * @throws Error for a schema that has no JSON; the caller names its route.
 */
export function compileWriter<A>(shape: AnyStandard): JsonWriter<A> {
  return isCompiled(shape) ? compileShapeWriter(shape) : writerOf(standardWriter(shape));
}

/** As {@link compileWriter}, for what takes only a Valibot schema: a bundle then has no code of other libraries' schemas. */
export function compileShapeWriter<A>(shape: AnyStandard): JsonWriter<A> {
  return writerOf(compileWrite(kindOf(shape)));
}

function writerOf<A>(write: WriteValue): JsonWriter<A> {
  return {
    write: (value) => {
      const writing = new JsonWriting();
      // A shape may write `undefined`, as of an optional value: in a list and by itself that is null.
      const copy = write(value, writing) ?? null;
      if (writing.failure !== undefined) {
        abandon(value);
        return error(writing.failure);
      }
      const text = JSON.stringify(copy);
      if (!text.includes(surrogateEscape)) return ok(text);
      const broken = brokenText(copy, [], 0);
      return broken === undefined
        ? ok(withDigits(text))
        : error(`${broken} holds half of a surrogate pair, which is no text`);
    },
  };
}

/** The place of a text or a name with a lone surrogate, which UTF-8 cannot encode. */
function brokenText(copy: unknown, path: (string | number)[], depth: number): string | undefined {
  if (typeof copy === "string") return copy.isWellFormed() ? undefined : jsonPath("value", path, depth);
  if (typeof copy !== "object" || copy === null || copy instanceof LongInteger) return undefined;
  for (const [name, member] of Object.entries(copy)) {
    path[depth] = Array.isArray(copy) ? Number(name) : name;
    const broken = name.isWellFormed() ? brokenText(member, path, depth + 1) : jsonPath("value", path, depth + 1);
    if (broken !== undefined) return broken;
  }
  return undefined;
}
