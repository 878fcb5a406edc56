import type { RefusalFormat } from "../answers/refusal-format.ts";
import { isFormat, noFormat } from "../answers/is-format.ts";
import { isObject, isTexts, shown } from "../arguments.ts";
import { counted } from "../counted.ts";
import { isFieldValue, isToken } from "../http/fields.ts";
import { peerCertificate } from "../inputs/connection.ts";
import type { AnyDep, CheckedRoute, DepNode, Supplied } from "../inputs/dep.ts";
import { frameworkCodes } from "../refusals.ts";
import type { Code } from "../refusals.ts";
import { crossOrigin, deadline, emptyQuery, overload } from "../routing/meta.ts";
import { anyMethod, methodsOf } from "../routing/mounted.ts";
import { unreadOf } from "../routing/param.ts";
import type { Segment } from "../routing/path.ts";
import type { Route } from "../routing/route.ts";
import { readOrigins } from "../security/cross-origin.ts";

/** Every declaration that `App.make` refuses, each with its route. */
export class DeclarationError extends Error {
  override readonly name: string = "DeclarationError";
  declare readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      problems.length === 1 ? `App.make: ${problems[0]}` : `App.make:\n${problems.map((p) => `- ${p}`).join("\n")}`,
    );
    // An uncaught error is printed with its enumerable members: each sentence would be there twice.
    Object.defineProperty(this, "problems", { value: problems });
  }
}

/** A route with all nodes of its inputs. */
export interface Declared {
  readonly route: Route;
  /** `GET /orders/{order_id}`. */
  readonly name: string;
  readonly nodes: readonly DepNode[];
  /** The codes of its refusals: its own, then those of its inputs. */
  readonly codes: readonly Code[];
}

export function declared(route: Route): Declared {
  const nodes = nodesOf(route);
  const codes = route.refuses.slice();
  for (const node of nodes) if (node.codes !== undefined) codes.push(...node.codes);
  return { route, name: `${route.method} ${route.pattern}`, nodes, codes };
}

/** What is wrong with one route. */
export function checkRoute(declared: Declared, routes: readonly Route[], format?: RefusalFormat): readonly string[] {
  const problems: string[] = [];
  checkMethod(declared, problems);
  checkPath(declared, problems);
  checkInputs(declared, routes, format, problems);
  const { returns, method } = declared.route;
  for (const problem of returns.node.check?.(method) ?? []) problems.push(`${declared.name} ${problem}`);
  const emptied: unknown = declared.route.meta.find(emptyQuery);
  if (emptied !== undefined && emptied !== "absent") {
    problems.push(`${declared.name}: its Meta.emptyQuery is "absent", and not ${shown(emptied)}`);
  }
  checkBoundsOf(declared, problems);
  return problems;
}

/** The deadline of a route is a value that brings the code of deadlines. */
function checkBoundsOf({ name, route }: Declared, problems: string[]): void {
  const own: unknown = route.meta.find(deadline);
  if (own !== undefined && own !== "none" && !isDeadline(own)) {
    const next = typeof own === "number" ? `: write Deadline.make(${own})` : "";
    problems.push(`${name}: its Meta.deadline is made by Deadline.make, or "none", and not ${shown(own)}${next}`);
  }
  const exempt: unknown = route.meta.find(overload);
  if (exempt !== undefined && exempt !== "exempt")
    problems.push(`${name}: its Meta.overload is "exempt", and not ${shown(exempt)}`);
  checkOrigins(name, route.meta.find(crossOrigin), problems);
}

/** A page that hides its origin may be meant here, for one route. */
function checkOrigins(name: string, origins: unknown, problems: string[]): void {
  if (origins === undefined || origins === "any") return;
  if (!isTexts(origins) || origins.length === 0) {
    problems.push(`${name}: its Meta.crossOrigin is "any" or a list of origins, and not ${shown(origins)}`);
    return;
  }
  const shownOrigins = origins.filter((origin) => origin !== "null");
  readOrigins(shownOrigins, (problem) => problems.push(`${name}: its Meta.crossOrigin: ${problem}`));
}

/** Whether a value is made by `Deadline.make`. */
export function isDeadline(value: unknown): boolean {
  return isObject(value) && typeof value["answer"] === "function";
}

/** What is wrong between routes. */
export function checkTogether(
  routes: readonly Declared[],
  resources: readonly Supplied[],
  codes: readonly Code[],
  format: RefusalFormat | undefined,
): readonly string[] {
  return [...checkClashes(routes), ...checkSupplied(routes, resources), ...checkCodes(routes, codes, format)];
}

/** Every node of a route's inputs, once each, dependencies first. */
function nodesOf({ inputs }: Route): readonly DepNode[] {
  const nodes: DepNode[] = [];
  for (const name in inputs) addNodes(inputs[name] as AnyDep, nodes);
  return nodes;
}

/** Throws for routes that read the client's certificate, on a listener that cannot give it. */
export function refuseCertificateReaders(routes: readonly Route[], why: string): void {
  for (const { nodes, name } of routes.map(declared)) {
    if (nodes.includes(peerCertificate.node)) throw new DeclarationError([`${name}: the input peerCertificate ${why}`]);
  }
}

// A route has so few nodes that searching a list is faster than making a Set.
function addNodes({ node }: AnyDep, nodes: DepNode[]): void {
  if (nodes.includes(node)) return;
  for (const dep of node.from) addNodes(dep, nodes);
  for (const dep of node.chooses ?? []) addNodes(dep, nodes);
  nodes.push(node);
}

const usualMethods: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"]);

function checkMethod({ route, name }: Declared, problems: string[]): void {
  if (usualMethods.has(route.method)) return;
  if (route.method === "HEAD") problems.push(`${name}: a HEAD is answered by the GET route, so declare that instead`);
  else if (!isToken(route.method)) problems.push(`${name}: ${JSON.stringify(route.method)} is no method`);
}

function checkPath({ route, name }: Declared, problems: string[]): void {
  const { segments } = route.path;
  for (let i = 0; i < segments.length; i++) {
    const segment = segments[i] as Segment;
    if (typeof segment === "string") {
      if (segment === "" || segment.includes("/")) {
        problems.push(
          `${name} has the literal segment ${JSON.stringify(segment)}, which no URL can match: write each by itself, without "/"`,
        );
      }
      continue;
    }
    if (parameterIndex(segments, segment.name) < i) problems.push(`${name} names the parameter ${segment.name} twice`);
    if (segment.kind === "rest" && i < segments.length - 1) {
      problems.push(
        `${name} has the rest of its path, ${segment.name}, before its end, where nothing after it could be matched`,
      );
    }
  }
}

/** The index of the first parameter with a name; -1 if there is no such parameter. */
function parameterIndex(segments: readonly Segment[], name: string): number {
  return segments.findIndex((segment) => typeof segment === "object" && segment.name === name);
}

function checkInputs(
  { route, name, nodes }: Declared,
  routes: readonly Route[],
  format: RefusalFormat | undefined,
  problems: string[],
): void {
  const needs = nodes.flatMap(({ body }) => body ?? []);
  const bodies = needs.map(({ as }) => as);
  const { method, pattern, returns } = route;
  const { segments } = route.path;
  const checked: CheckedRoute = { method, pattern, segments, returns: returns.node.kind, bodies, nodes, routes };
  for (const { check } of [...unreadOf(segments, nodes).map(({ reader }) => reader), ...nodes]) {
    if (check !== undefined) for (const problem of check(format, checked)) problems.push(`${name} ${problem}`);
  }
  if (needs.length > 1) problems.push(`${name} ${needs[0]?.several(bodies)}`);
}

// Two routes of one method clash where one text could match each pair of segments with the same rank. A parameter with
// `unparsed: "next-route"` never clashes: the router tries equal ones in the order of the list.
function checkClashes(routes: readonly Declared[]): readonly string[] {
  const problems: string[] = [];
  const taken = new Map<string, Declared[]>();
  for (const declared of routes) {
    const key = clashKey(declared.route.path);
    if (key === undefined) continue;
    const beside = taken.get(key);
    if (beside === undefined) {
      taken.set(key, [declared]);
      continue;
    }
    const other = beside.find(({ route }) => haveOneMethod(route, declared.route));
    beside.push(declared);
    if (other === undefined) continue;
    problems.push(`${other.name} and ${declared.name} could both answer one URL: ${insteadOf(other, declared)}`);
  }
  return problems;
}

function haveOneMethod(one: Route, other: Route): boolean {
  const methods = methodsOf(other);
  return methodsOf(one).some(
    (method) => method === anyMethod || methods.includes(method) || methods.includes(anyMethod),
  );
}

function insteadOf(one: Declared, other: Declared): string {
  if (one.name === other.name) return "list it once";
  const canDecline = other.route.path.segments.some(
    (segment) => typeof segment === "object" && segment.kind === "param",
  );
  return canDecline ? 'remove one, or give a parameter the option { unparsed: "next-route" }' : "remove one";
}

function clashKey({ segments }: Route["path"]): string | undefined {
  let key = "";
  for (const segment of segments) {
    if (typeof segment === "string") key += `/=${segment}`;
    else if (segment.kind === "rest") key += "/*";
    else if (segment.declines) return undefined;
    else key += "/?";
  }
  return key;
}

/** Each resource that is missing once, however many routes read it. */
function checkSupplied(routes: readonly Declared[], resources: readonly Supplied[]): readonly string[] {
  const names = resources.map(({ name }) => name);
  const missing = new Map<string, Set<string>>();
  for (const { name, nodes } of routes) {
    for (const { resource } of nodes) {
      if (resource === undefined || names.includes(resource)) continue;
      missing.set(resource, (missing.get(resource) ?? new Set()).add(name));
    }
  }
  const lacks = [...missing].map(([resource, [first, ...others]]) => {
    const rest = counted(others.length, "other route");
    const read = others.length === 0 ? `${first} reads` : `${first} and ${rest} read`;
    return `${read} the resource ${resource}, which the option resources lacks: add Dep.resource(…, value)`;
  });
  const twice = new Set(names.filter((name, i) => names.indexOf(name) < i));
  return [...lacks, ...[...twice].map((name) => `the resource ${name} is supplied twice`)];
}

function checkCodes(
  routes: readonly Declared[],
  codes: readonly Code[],
  format: RefusalFormat | undefined,
): readonly string[] {
  const problems = new Set<string>();
  const meanings = new Map<string, { readonly code: Code; readonly where: string }>();
  const check = (code: Code, where: string): void => {
    const known = meanings.get(code.name);
    // A code declared many times is checked once.
    if (known?.code === code) return;
    for (const problem of codeProblems(code, where)) problems.add(problem);
    if (known === undefined) meanings.set(code.name, { code, where });
    else if (!sameMeaning(known.code, code)) {
      const one = `${known.code.status} (${known.code.doc}) in ${known.where}`;
      const other = `${code.status} (${code.doc}) in ${where}`;
      const next = "rename one of them, or use one code in both";
      problems.add(`the code ${code.name} means two things: ${one}, and ${other}: ${next}`);
    }
  };
  for (const code of frameworkCodes) check(code, "the framework");
  for (const code of codes) check(code, "the application");
  for (const { name, codes } of routes) for (const code of codes) check(code, name);
  if (format === undefined) return [...problems];
  const byName = new Map([...meanings].map(([name, { code }]) => [name, code] as const));
  return [...problems, ...(isFormat(format) ? format.node.problems(byName) : [noFormat])];
}

function codeProblems(code: Code, where: string): readonly string[] {
  if (!Number.isInteger(code.status) || code.status < 400 || code.status > 599) {
    return [`the code ${code.name} in ${where} is a ${code.status}, where a refusal is 4xx or 5xx`];
  }
  if (code.status === 401 && (code.challenge ?? "") === "") {
    return [`the code ${code.name} in ${where} is a 401 with no challenge, which its WWW-Authenticate must name`];
  }
  if (code.challenge !== undefined && !isFieldValue(code.challenge)) {
    return [`the code ${code.name} in ${where} has a challenge that no header can hold`];
  }
  return [];
}

function sameMeaning(a: Code, b: Code): boolean {
  return a.status === b.status && a.doc === b.doc && a.challenge === b.challenge;
}
