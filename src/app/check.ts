import { isFieldValue } from "../answers/header-guard.ts";
import type { AnyDep, DepNode } from "../inputs/dep.ts";
import type { Supplied } from "../inputs/resource.ts";
import { frameworkCodes } from "../refusals/framework-codes.ts";
import type { Code } from "../refusals/code.ts";
import { isToken } from "../codecs/word.ts";
import type { Route } from "../routes/route.ts";

/** What keeps an app from being made: each sentence names the route and the thing. */
export class DeclarationError extends Error {
  override readonly name: string = "DeclarationError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      problems.length === 1 ? `App.make: ${problems[0]}` : `App.make:\n${problems.map((p) => `- ${p}`).join("\n")}`,
    );
    this.problems = problems;
  }
}

/** The rules of declaration that one route breaks by itself. */
export function checkRoute(route: Route, resources: readonly Supplied[]): readonly string[] {
  return [...checkMethod(route), ...checkPath(route), ...checkInputs(route, resources), ...checkAnswer(route)];
}

/** The rules that routes break together. */
export function checkTogether(
  routes: readonly Route[],
  resources: readonly Supplied[],
  codes: readonly Code[],
): readonly string[] {
  return [...checkClashes(routes), ...checkSupplied(resources), ...checkCodes(routes, codes)];
}

/** `GET /orders/{order_id}`. */
export function nameOf(route: Route): string {
  return `${route.method} ${route.pattern}`;
}

/** Every node of a route's inputs, each once, what it is made from before it. */
function nodesOf(route: Route): readonly DepNode[] {
  const nodes = new Set<DepNode>();
  const visit = ({ node }: AnyDep): void => {
    if (nodes.has(node)) return;
    node.from.forEach(visit);
    nodes.add(node);
  };
  Object.values(route.inputs).forEach(visit);
  return [...nodes];
}

function checkMethod(route: Route): readonly string[] {
  if (route.method === "HEAD")
    return [`${nameOf(route)}: a HEAD is answered by the GET route, so declare that instead`];
  return isToken(route.method) ? [] : [`${nameOf(route)}: ${JSON.stringify(route.method)} is no method`];
}

function checkPath(route: Route): readonly string[] {
  const problems: string[] = [];
  const names = new Set<string>();
  const { segments } = route.path;
  for (const [i, segment] of segments.entries()) {
    if (typeof segment === "string") {
      if (segment === "" || segment.includes("/")) {
        problems.push(`${nameOf(route)} has the literal segment ${JSON.stringify(segment)}, which no URL can match`);
      }
      continue;
    }
    if (names.has(segment.name)) problems.push(`${nameOf(route)} names the parameter ${segment.name} twice`);
    names.add(segment.name);
    if (segment.kind === "rest" && i < segments.length - 1) {
      problems.push(
        `${nameOf(route)} has the rest of its path, ${segment.name}, before its end, where nothing after it could be matched`,
      );
    }
  }
  return problems;
}

function checkInputs(route: Route, resources: readonly Supplied[]): readonly string[] {
  const problems: string[] = [];
  const nodes = nodesOf(route);
  const held = new Set(route.path.segments.map((segment) => (typeof segment === "string" ? "" : segment.name)));
  for (const { need, resource } of nodes) {
    if (need?.in === "path" && !held.has(need.name)) {
      problems.push(`${nameOf(route)} reads the path parameter ${need.name}, which its path does not have`);
    }
    if (need?.in === "header" && !isToken(need.name)) {
      problems.push(`${nameOf(route)} reads the header ${JSON.stringify(need.name)}, which is no header's name`);
    }
    if (resource !== undefined && !resources.some(({ name }) => name === resource)) {
      problems.push(`${nameOf(route)} reads the resource ${resource}, which is not supplied`);
    }
  }
  if (nodes.filter(({ body }) => body !== undefined).length > 1) {
    problems.push(
      `${nameOf(route)} reads its body as a form or as it arrives and reads it another way too, where a body is read one way`,
    );
  }
  return problems;
}

function checkAnswer(route: Route): readonly string[] {
  const { kind, statuses, several } = route.returns.node;
  const name = nameOf(route);
  if (kind === "response") return [];
  if (several && statuses.length === 0) return [`${name} lists no status to answer`];
  const problems: string[] = [];
  for (const [i, [status]] of statuses.entries()) {
    if (!Number.isInteger(status) || status < 200 || status > 299) {
      problems.push(`${name} lists ${status}, which is not a success: failing is a refusal`);
    }
    if (kind === "json" && (status === 204 || status === 205)) {
      problems.push(`${name} answers JSON under ${status}, which HTTP sends without a body: use Returns.empty`);
    }
    if (statuses.findIndex(([other]) => other === status) < i) problems.push(`${name} lists a status twice`);
  }
  return problems;
}

// Two routes of one method clash where every segment of theirs could be the same text with the same rank. A parameter
// that declines never clashes: of two alike the first listed is asked first.
function checkClashes(routes: readonly Route[]): readonly string[] {
  const problems: string[] = [];
  const taken = new Map<string, Route>();
  for (const route of routes) {
    const { segments } = route.path;
    if (segments.some((segment) => typeof segment === "object" && segment.kind === "param" && segment.declines))
      continue;
    const kinds = segments.map((segment) => (typeof segment === "string" ? `=${segment}` : segment.kind));
    const key = JSON.stringify([route.method, ...kinds]);
    const other = taken.get(key);
    if (other === undefined) taken.set(key, route);
    else problems.push(`${nameOf(other)} and ${nameOf(route)} could both answer one URL`);
  }
  return problems;
}

function checkSupplied(resources: readonly Supplied[]): readonly string[] {
  const names = resources.map(({ name }) => name);
  const twice = new Set(names.filter((name, i) => names.indexOf(name) < i));
  return [...twice].map((name) => `the resource ${name} is supplied twice`);
}

function checkCodes(routes: readonly Route[], codes: readonly Code[]): readonly string[] {
  const problems = new Set<string>();
  const meanings = new Map<string, { readonly code: Code; readonly where: string }>();
  const check = (code: Code, where: string): void => {
    for (const problem of codeProblems(code, where)) problems.add(problem);
    const known = meanings.get(code.name);
    if (known === undefined) meanings.set(code.name, { code, where });
    else if (!sameMeaning(known.code, code)) {
      const one = `${known.code.status} (${known.code.doc}) in ${known.where}`;
      problems.add(`the code ${code.name} means two things: ${one}, and ${code.status} (${code.doc}) in ${where}`);
    }
  };
  for (const code of frameworkCodes) check(code, "the framework");
  for (const code of codes) check(code, "the application");
  for (const route of routes) for (const code of codesOf(route)) check(code, nameOf(route));
  return [...problems];
}

/** The codes a route declares: its own, then its inputs'. */
export function codesOf(route: Route): readonly Code[] {
  return [...route.refuses, ...nodesOf(route).flatMap(({ codes = [] }) => codes)];
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
