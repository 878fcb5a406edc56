/** Arguments that only JavaScript can get wrong: each member of a route is looked at once, so that no check of it meets another. */
import { isMeta, isObject, isSchema, isSegment, isTexts, kindOf } from "../arguments.ts";
import { isCode } from "../refusals.ts";
import type { Route } from "./route.ts";

/** What is wrong with the members of a route, before its checks read them; empty where it is a route. */
export function wrongMembers(route: unknown, index: number): readonly string[] {
  const at = `the route ${index} of the list`;
  if (!isObject(route))
    return [`${at} is ${kindOf(route)}, and not a route: make it by get, post, put, patch, del or route`];
  const { method, path, inputs, returns, refuses, tags, meta, handler } = route as Partial<Route>;
  // `Openapi.docs` and `Health.routes` make lists.
  if (Array.isArray(route)) return [`${at} is a list: write \`...\` before it`];
  if (typeof method !== "string" || !isObject(path) || !Array.isArray(path.segments)) {
    if ("group" in route) return [`${at} is a group: list the routes that it made`];
    return [`${at} is no route: make it by get, post, put, patch, del or route, with a path of Path.of`];
  }
  const name = `${method} ${path.pattern}`;
  const problems: string[] = [];
  const needs = (holds: boolean, member: string, value: unknown, what: string): void => {
    if (!holds) problems.push(`${name}: ${member} is ${kindOf(value)}, and not ${what}`);
  };
  for (const segment of path.segments) {
    needs(isSegment(segment), "a segment of its path", segment, "a text or a parameter of Path");
  }
  if (isSchema(returns)) problems.push(`${name}: returns is a schema: write Returns.json(…) of it`);
  else needs(isObject(returns) && isObject(returns.node), "returns", returns, "one of Returns");
  const notCodes = wrongCodes(refuses);
  if (notCodes !== undefined) problems.push(`${name}: refuses${notCodes}`);
  needs(isTexts(tags), "tags", tags, "a list of texts");
  needs(isMeta(meta), "meta", meta, "made from Meta.empty");
  needs(typeof handler === "function", "its handler", handler, "a function");
  needs(isObject(inputs), "inputs", inputs, "an object of inputs by name");
  if (!isObject(inputs)) return problems;
  const seen = new Set<unknown>();
  for (const [input, value] of Object.entries(inputs)) {
    const wrong = notInput(value, seen);
    if (wrong !== undefined) problems.push(`${name}: the input ${input} ${wrong}`);
  }
  return problems;
}

/** Why a value, or what it is made from, is no input; each is looked at once, however many share it. */
function notInput(value: unknown, seen: Set<unknown>): string | undefined {
  if (!isInput(value)) {
    if (typeof value !== "string" && isSegment(value)) return "is a parameter of Path: write param(…) of it";
    if (isSchema(value)) return "is a schema: write json(…) of it, or Query.required(name, …)";
    return `is ${kindOf(value)}, and not an input: one of Query, Header, json, param, Dep`;
  }
  if (seen.has(value.node)) return undefined;
  seen.add(value.node);
  const { name, about = {} } = (value.node.need ?? { name: "" }) as {
    readonly name: unknown;
    readonly about?: unknown;
  };
  if (typeof name !== "string") return `is made from ${kindOf(name)}, and not the name of what it reads`;
  if (!isObject(about)) return `is made from ${kindOf(about)}, and not an object of options`;
  const { codes = [] } = value.node;
  const notCodes = wrongCodes(codes);
  if (notCodes !== undefined) return `is made from codes: refuses${notCodes}`;
  for (const other of value.node.from) {
    const wrong = notInput(other, seen);
    if (wrong !== undefined) return wrong.replace(/^is (?:made from )?/, "is made from ");
  }
  return undefined;
}

/** What is wrong with a list of codes, to be read after its name; undefined for a right one. */
function wrongCodes(value: unknown): string | undefined {
  if (!Array.isArray(value)) return ` is ${kindOf(value)}, and not a list of codes of Refusal.code`;
  const at = Array.from(value).findIndex((code) => !isCode(code));
  return at === -1 ? undefined : `[${at}] is ${kindOf(value[at])}, and not a code of Refusal.code`;
}

function isInput(value: unknown): value is {
  readonly node: { readonly from: readonly unknown[]; readonly need?: unknown; readonly codes?: unknown };
} {
  return isObject(value) && isObject(value["node"]) && Array.isArray(value["node"]["from"]);
}
