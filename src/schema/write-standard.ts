import { jsonPath } from "./messages.ts";
import type { Members } from "./reading.ts";
import { stepsOf } from "./issues.ts";
import type { AnyStandard } from "./standard.ts";
import { SchemaError, checkStandard, schemaInWords, validateNow } from "./validate.ts";
import type { StandardIssue, Validated } from "./validate.ts";
import { writeItems, writeMembers } from "./writing.ts";
import type { JsonWriting, WriteValue } from "./writing.ts";

/** Writes the output that a schema of another library makes of a value. */
export function standardWriter(schema: AnyStandard): WriteValue {
  checkStandard(schema);
  const name = schemaInWords(schema);
  return (value, writing) => {
    const validated = validatedOf(schema, value);
    if (validated instanceof SchemaError) writing.failure ??= validated.message;
    else if (validated.ok) return writeOutput(validated.value, writing);
    else {
      const [issue = {}] = validated.issues;
      writing.failure ??= `${placeOf(issue)} is refused by ${name}${codeOf(issue)}`;
    }
    return undefined;
  };
}

function validatedOf(schema: AnyStandard, value: unknown): Validated | SchemaError {
  try {
    return validateNow(schema, value, "for what is sent");
  } catch (thrown) {
    if (thrown instanceof SchemaError) return thrown;
    throw thrown;
  }
}

function placeOf({ path }: StandardIssue): string {
  const steps = stepsOf(path);
  return jsonPath("value", steps, steps.length);
}

// The message may quote the value.
function codeOf({ code }: StandardIssue): string {
  return typeof code === "string" && /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(code) ? `: ${code}` : "";
}

/** Copies a value as `JSON.stringify` would write it, and refuses what that would drop or change. */
const writeOutput: WriteValue = (value, writing) => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : writing.fail("must be a finite number");
    case "bigint":
      return writing.fail("is a bigint, which is not JSON: make it a string or a number in the schema");
    case "object":
      if (value === null) return null;
      if (hasToJson(value)) return writeToJson(value, writing);
      return Array.isArray(value) ? writeItems(value, writeOutput, writing) : writeObject(value, writing);
    default:
      return writing.refuse("JSON", value);
  }
};

interface ToJson {
  toJSON(): unknown;
}

function hasToJson(value: object): value is ToJson {
  return typeof (value as Partial<ToJson>).toJSON === "function";
}

function writeToJson(value: ToJson, writing: JsonWriting): unknown {
  if (value instanceof Date && Number.isNaN(value.getTime())) return writing.fail("is an invalid Date");
  // It may answer itself.
  const level = writing.enter();
  if (level === undefined) return undefined;
  writing.path[level] = undefined;
  const written = writeOutput(value.toJSON(), writing);
  writing.depth = level;
  return written;
}

function writeObject(object: object, writing: JsonWriting): unknown {
  // An instance of an application's class has this tag too; a Map, a Set, a RegExp or a buffer has its own.
  if (Object.prototype.toString.call(object) !== "[object Object]") {
    return writing.fail("is an object that is not JSON: make it a plain one in the schema");
  }
  const level = writing.enter();
  if (level === undefined) return undefined;
  const out: Members = {};
  writeMembers(Object.keys(object), object as Members, writeOutput, out, writing);
  writing.depth = level;
  return out;
}
