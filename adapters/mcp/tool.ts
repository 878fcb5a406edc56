/** The routes that are tools, compiled once: what a list says of each, and what makes the request of a call. */
import { isListOf, isObject } from "../../src/arguments.ts";
import type { AnyDep, DepNode } from "../../src/doors/inputs.ts";
import { describeTool } from "../../src/openapi/tool-schemas.ts";
import type { ToolSchemas } from "../../src/openapi/tool-schemas.ts";
import { rateLimited } from "../../src/refusals.ts";
import { operationId, toolKey } from "../../src/doors/routing.ts";
import type { Tool, Route } from "../../src/doors/routing.ts";
import { RequestMaker } from "./arguments.ts";

/** A route that is a tool. */
export interface CompiledTool {
  readonly route: Route;
  readonly name: string;
  readonly schemas: ToolSchemas;
  readonly maker: RequestMaker;
  /** What `tools/list` says of it, as JSON. */
  readonly listed: string;
  /** Whether its answer is JSON lines. */
  readonly isLines: boolean;
  /** Whether its answer is a stream of events that are progress. */
  readonly isProgress: boolean;
  /** The inputs that tell by the credentials alone whether a caller may call it. */
  readonly guards: readonly AnyDep[];
}

/** Compiles the tools among some routes. Each problem follows `POST /mcp`. */
export function compileTools(routes: readonly Route[], problems: string[]): readonly CompiledTool[] {
  const tools: CompiledTool[] = [];
  const names = new Map<string, Route>();
  for (const route of routes) {
    const tool = route.meta.find(toolKey);
    if (tool === undefined) continue;
    const compiled = compileTool(route, tool, problems);
    const other = names.get(compiled.name);
    const at = `${route.method} ${route.pattern}`;
    if (other !== undefined) {
      problems.push(`has two tools named ${compiled.name}: ${other.method} ${other.pattern} and ${at}`);
    }
    names.set(compiled.name, route);
    tools.push(compiled);
  }
  return tools;
}

function compileTool(route: Route, tool: Tool, problems: string[]): CompiledTool {
  const at = `${route.method} ${route.pattern}`;
  const name = tool.name ?? route.meta.find(operationId) ?? toolNameOf(route);
  if (!/^[A-Za-z0-9_.-]{1,128}$/.test(name)) {
    problems.push(`has the tool of ${at}, whose name is not 1 to 128 ASCII letters, digits, "_", "-" and "."`);
  }
  const schemas = describeTool(route);
  for (const problem of schemas.problems) problems.push(`has the tool of ${at}, which ${problem}`);
  const { kind } = route.returns.node;
  return {
    route,
    name,
    schemas,
    maker: new RequestMaker(route, schemas),
    listed: JSON.stringify(listedOf(route, name, tool, schemas)),
    isLines: kind === "lines",
    isProgress: kind === "events" && tool.events === "progress",
    guards: Object.values(route.inputs).flatMap(guardsOf),
  };
}

/** The parts of an input that tell: the whole of it, unless it is a rate limit, which counts each time that it is read. */
function guardsOf(input: AnyDep): readonly AnyDep[] {
  if (nodesOf(input).some(({ codes }) => codes?.includes(rateLimited) === true))
    return input.node.from.flatMap(guardsOf);
  return isGuard(input) ? [input] : [];
}

/** Whether an input reads a credential, and nothing else that only the request of the route itself has. */
function isGuard(input: AnyDep): boolean {
  const nodes = nodesOf(input);
  return nodes.some(({ credential }) => credential !== undefined) && nodes.every((node) => isOfHead(node));
}

function nodesOf({ node }: AnyDep): readonly DepNode[] {
  return [node, ...node.from.flatMap(nodesOf)];
}

function isOfHead({ need, body, acquires, binds, opaque }: DepNode): boolean {
  const isElsewhere = need !== undefined && need.in !== "header" && need.in !== "cookie";
  return !isElsewhere && body === undefined && acquires !== true && binds !== true && opaque !== true;
}

/** `POST /orders/{order_id}` becomes `post_orders_order_id`. */
function toolNameOf({ method, pattern }: Route): string {
  const words = pattern.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return [method.toLowerCase(), ...(words.length === 0 ? ["root"] : words)].join("_").slice(0, 128);
}

const safe: ReadonlySet<string> = new Set(["GET", "HEAD", "QUERY", "OPTIONS"]);
const repeatable: ReadonlySet<string> = new Set(["PUT", "DELETE"]);

function listedOf(route: Route, name: string, tool: Tool, { input, output }: ToolSchemas): object {
  const { summary, description, method } = route;
  const title = tool.title ?? summary;
  const texts = [summary, description].filter((text) => text !== undefined);
  const text = tool.description ?? (texts.length === 0 ? undefined : texts.join("\n\n"));
  const readOnlyHint = tool.readOnly ?? safe.has(method);
  const destructiveHint = tool.destructive ?? !readOnlyHint;
  const idempotentHint = tool.idempotent ?? (readOnlyHint || repeatable.has(method));
  return {
    name,
    ...(title === undefined ? {} : { title }),
    ...(text === undefined ? {} : { description: text }),
    inputSchema: input,
    ...(output === undefined ? {} : { outputSchema: output }),
    annotations: { readOnlyHint, destructiveHint, idempotentHint },
  };
}

/** Whether a value is a list of routes that can be described. */
export function areRoutes(routes: unknown): boolean {
  return isListOf(routes, (route) => isObject(route) && isObject(route["path"]) && isObject(route["meta"]));
}
