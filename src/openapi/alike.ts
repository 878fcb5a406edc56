import type { Parameter } from "./parameters.ts";
import type { Described } from "./operation.ts";
import type { SecurityRequirement } from "./security.ts";

/**
 * Puts two routes together that differ only by their parameters' types (contract 4.2): one operation, whose parameter
 * is of either type. Answers why they cannot be one, if so.
 */
export function together(one: Described, other: Described): Described | string {
  if (one.route.pattern !== other.route.pattern) {
    return "differ only by a parameter's type, so they are one operation: it gives the parameter one name";
  }
  if (!declines(one)) return `are both the operation ${one.id}`;
  if (!same(one.answers, other.answers)) {
    return "differ only by a parameter's type, so they are one operation: it answers one way";
  }
  if (!same(one.requestBody, other.requestBody)) {
    return "differ only by a parameter's type, so they are one operation: it reads one body";
  }
  const codes = [...one.codes, ...other.codes];
  return {
    ...one,
    parameters: eitherParameters(one.parameters, other.parameters),
    codes: codes.filter(({ name }, index) => codes.findIndex((code) => code.name === name) === index),
    credentials: [...one.credentials, ...other.credentials],
    security: eitherSecurity(one.security, other.security),
    alsoReads: [...new Set([...one.alsoReads, ...other.alsoReads])],
    isOpaque: one.isOpaque || other.isOpaque,
  };
}

/** The path without its parameters' names: routes of one such path are at one place. */
export function placeOf({ route }: Described): string {
  return route.path.segments.map((segment) => `/${typeof segment === "string" ? `=${segment}` : "?"}`).join("");
}

function declines({ route }: Described): boolean {
  return route.path.segments.some(
    (segment) => typeof segment === "object" && segment.kind === "param" && segment.declines,
  );
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** What only one of them reads is no requirement of both. */
function eitherParameters(ones: readonly Parameter[], others: readonly Parameter[]): readonly Parameter[] {
  const find = (list: readonly Parameter[], like: Parameter) =>
    list.find((parameter) => parameter.in === like.in && parameter.name === like.name);
  const both = ones.map((one): Parameter => {
    const other = find(others, one);
    if (other === undefined) return { ...one, required: false };
    return { ...one, required: one.required && other.required, schema: eitherSchema(one.schema, other.schema) };
  });
  const more = others.filter((other) => find(ones, other) === undefined);
  return [...both, ...more.map((other) => ({ ...other, required: false }))];
}

function eitherSchema(one: Parameter["schema"], other: Parameter["schema"]): Parameter["schema"] {
  const schemas = (one["anyOf"] as readonly unknown[] | undefined) ?? [one];
  return schemas.some((schema) => same(schema, other)) ? one : { anyOf: [...schemas, other] };
}

function eitherSecurity(
  one: readonly SecurityRequirement[] | undefined,
  other: readonly SecurityRequirement[] | undefined,
): readonly SecurityRequirement[] | undefined {
  if (one === undefined && other === undefined) return undefined;
  const all = [...(one ?? [{}]), ...(other ?? [{}])];
  return all.filter((requirement, index) => all.findIndex((earlier) => same(earlier, requirement)) === index);
}
