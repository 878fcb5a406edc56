import { isThenable } from "../async.ts";
import { inBackground } from "../logging/raised.ts";
import { RefusingError, internalRefusal } from "../refusals.ts";
import type { Refusal } from "../refusals.ts";
import type { AnyStandard } from "./standard.ts";

/** A schema that does not keep to Standard Schema, a bug of the application: a 500 whose logged detail quotes no value. */
export class SchemaError extends RefusingError {
  override readonly name: string = "SchemaError";
  readonly refusal: Refusal;

  constructor(detail: string) {
    super(detail);
    this.refusal = internalRefusal(detail);
  }
}

/** One issue of a library. Every member may be of another type, or throw when read. */
export interface StandardIssue {
  readonly message?: unknown;
  readonly path?: unknown;
  /** The library's own code, as Zod and ArkType have. */
  readonly code?: unknown;
  /** What ArkType expects, without the value. */
  readonly expected?: unknown;
}

/** What a library made of a value. */
export type Validated =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly StandardIssue[] };

/** Refuses, when the app is made, what is no schema. */
export function checkStandard(schema: AnyStandard): void {
  const isHolder = (typeof schema === "object" && schema !== null) || typeof schema === "function";
  const standard = isHolder ? (schema as Partial<AnyStandard>)["~standard"] : undefined;
  if (standard === undefined || standard.vendor === "valibot") {
    throw new Error("A shape must be a schema of Valibot, or of another library of Standard Schema.");
  }
  if (standard.version !== 1) {
    throw new Error(`${schemaInWords(schema)} is of another version of Standard Schema than 1.`);
  }
  if (typeof standard.validate !== "function") {
    throw new Error(`${schemaInWords(schema)} has no ~standard.validate: it can only describe a value.`);
  }
}

/** A schema in a sentence: `its schema (zod)`. */
export function schemaInWords(schema: AnyStandard): string {
  const { vendor } = schema["~standard"];
  return typeof vendor === "string" && /^[\w@/. -]{1,64}$/.test(vendor) ? `its schema (${vendor})` : "its schema";
}

/** Runs a schema on a value, now or by a promise. What its functions throw is thrown. */
export function validate(schema: AnyStandard, value: unknown): Validated | Promise<Validated> {
  const result: unknown = schema["~standard"].validate(value);
  if (isThenable(result)) return Promise.resolve(result).then((result) => validatedBy(schema, result));
  return validatedBy(schema, result);
}

/** Runs a schema where a promise cannot be awaited: `where` ends the sentence. */
export function validateNow(schema: AnyStandard, value: unknown, where: string): Validated {
  const validated = validate(schema, value);
  if (!(validated instanceof Promise)) return validated;
  // Its value is not used, and its rejection would end the process.
  inBackground(validated);
  throw new SchemaError(
    `${schemaInWords(schema)} validates by a promise, which is awaited only for a request's body, not ${where}`,
  );
}

function validatedBy(schema: AnyStandard, result: unknown): Validated {
  if ((typeof result !== "object" && typeof result !== "function") || result === null) {
    throw new SchemaError(`${schemaInWords(schema)} answered its validation with no object`);
  }
  const { issues } = result as { readonly issues?: unknown };
  if (issues === undefined || issues === null) {
    if ("value" in result) return { ok: true, value: result.value };
    throw new SchemaError(`${schemaInWords(schema)} answered its validation with neither a value nor issues`);
  }
  if (!Array.isArray(issues) || issues.length === 0) {
    throw new SchemaError(`${schemaInWords(schema)} answered its validation with issues that are no list`);
  }
  if (schema["~standard"].vendor === "effect") checkDefects(schema, issues);
  return { ok: false, issues };
}

/** Effect answers what a function of a schema raised as an issue, whose message is the error's, and which has no path. */
function checkDefects(schema: AnyStandard, issues: readonly unknown[]): void {
  for (const issue of issues as readonly (StandardIssue | null)[]) {
    if (typeof issue !== "object" || issue === null || issue.path !== undefined) continue;
    const error = new SchemaError(`${schemaInWords(schema)} raised while it validated`);
    // The log has its frames alone.
    if (typeof issue.message === "string") error.stack = issue.message;
    throw error;
  }
}
