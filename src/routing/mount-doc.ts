import { isObject, isTexts, needs, needsObject } from "../arguments.ts";
import type { Param } from "../inputs/dep.ts";
import { str } from "./path.ts";

/** What the API document says of a mount: its operations, by method, `"GET"`, or by method and the path below it, `"POST /users/{id}"`. */
export interface MountDoc {
  readonly [operation: string]: MountOperation;
}

/** An operation of a mount, as the API document has it. */
export interface MountOperation {
  /** One line. */
  readonly summary?: string;
  /** A longer text. */
  readonly description?: string;
  /** Its groups; those of the mount's group come before. */
  readonly tags?: readonly string[];
  /** What the request has as its body: a Request Body Object of OpenAPI, as it is. */
  readonly requestBody?: object;
  /** What it answers, by status, `"4XX"` or `"default"`. The refusals of the mount's inputs are added. */
  readonly responses: { readonly [status: string]: MountResponse };
}

/** A Response Object of OpenAPI, as it is. */
export interface MountResponse {
  /** What the answer means. */
  readonly description: string;
  /** Its headers, by name. */
  readonly headers?: object;
  /** Its bodies, by content type. */
  readonly content?: object;
}

/** An operation of a mount, with its place. */
export interface MountedOperation extends MountOperation {
  readonly method: string;
  /** The path below the mount: literal segments and texts. */
  readonly below: readonly (string | Param<string, string, string>)[];
}

const members = ["summary", "description", "tags", "requestBody", "responses"];

/** The operations of a mount's `doc`. Throws for any other value. */
export function mountedOperations(
  pattern: string,
  parameters: readonly string[],
  methods: readonly string[] | undefined,
  doc: unknown,
): readonly MountedOperation[] {
  needsObject("Route.mount: doc", doc);
  return Object.entries(doc as MountDoc).map(([key, operation]) => {
    const at = `Route.mount: doc of ${pattern}: ${JSON.stringify(key)}`;
    const [, method = "", path = ""] = /^([!#$%&'*+\-.^_`|~0-9A-Z]+)(?: (\/.*))?$/.exec(key) ?? [];
    if (method === "") throw new TypeError(`${at} is no "GET" or "GET /below": a method in upper case, and a path`);
    const isAnswered =
      methods === undefined || methods.includes(method) || (method === "HEAD" && methods.includes("GET"));
    if (!isAnswered) throw new TypeError(`${at} has a method that the mount does not answer: ${methods.join(", ")}`);
    checkOperation(at, operation);
    return { ...operation, method, below: segmentsOf(at, path, parameters) };
  });
}

function checkOperation(at: string, operation: unknown): void {
  needsObject(at, operation);
  const { summary, description, tags, requestBody, responses, ...others } = operation as Partial<MountOperation>;
  const [other] = Object.keys(others);
  if (other !== undefined) throw new TypeError(`${at}: ${other} is none of its members: ${members.join(", ")}`);
  needs(summary === undefined || typeof summary === "string", `${at}: summary`, summary, "a text");
  needs(description === undefined || typeof description === "string", `${at}: description`, description, "a text");
  needs(tags === undefined || isTexts(tags), `${at}: tags`, tags, "a list of texts");
  needs(requestBody === undefined || isObject(requestBody), `${at}: requestBody`, requestBody, "an object of OpenAPI");
  needsObject(`${at}: responses`, responses);
  const answers = Object.entries(responses as object as { readonly [status: string]: unknown });
  // OpenAPI 3.1, "Responses Object": at least one.
  if (answers.length === 0) throw new TypeError(`${at}: responses has no status: write what it answers`);
  for (const [status, answer] of answers) {
    if (!/^(?:[1-5](?:\d\d|XX)|default)$/.test(status))
      throw new TypeError(`${at}: ${JSON.stringify(status)} is no status, "4XX" or "default"`);
    const isOne = isObject(answer) && typeof answer["description"] === "string";
    needs(isOne, `${at}: ${status}`, answer, "an object with a description");
  }
}

function segmentsOf(at: string, path: string, parameters: readonly string[]): MountedOperation["below"] {
  const names = new Set(parameters);
  if (path === "" || path === "/") return [];
  return path
    .slice(1)
    .split("/")
    .map((segment) => {
      const name = /^\{([^{}]+)\}$/.exec(segment)?.[1];
      if (segment === "" || (name === undefined && /[{}]/.test(segment)))
        throw new TypeError(`${at} has a segment that is neither a text nor a parameter, such as {id}`);
      if (name === undefined) return segment;
      if (names.has(name)) throw new TypeError(`${at} has the parameter ${name} twice`);
      names.add(name);
      return str(name);
    });
}
