/** The `Mcp` namespace: routes of an app as tools of an agent, by the Model Context Protocol. */
import * as Returns from "../../src/answers/returns.ts";
import { isListOf, needs, needsCount, needsObject, needsOptions, needsText, needsTexts } from "../../src/arguments.ts";
import type { Dep, Inputs } from "../../src/doors/inputs.ts";
import { ofBody } from "../../src/doors/inputs.ts";
import { deadline, empty, hidden, post, wrongMembers } from "../../src/doors/routing.ts";
import type { Meta, Route } from "../../src/doors/routing.ts";
import { of } from "../../src/routing/path.ts";
import { challengeOf, challenging, checkAuthorization, metadataRoute } from "./authorization.ts";
import type { McpAuthorization } from "./authorization.ts";
import { ReceivedRequest, answerTo } from "./http.ts";
import { compilePrompt, isPrompt } from "./prompts.ts";
import type { McpPrompt } from "./prompts.ts";
import { compileResource, isResource, madeResource } from "./resources.ts";
import type { McpResource, ResourceOptions } from "./resources.ts";
import { McpServer } from "./server.ts";
import { areRoutes, compileTools } from "./tool.ts";

/** The options of `Mcp.routes`. */
export interface McpOptions {
  /** The name of the server, for programs. */
  readonly name: string;
  /** The version of the server. */
  readonly version: string;
  /** The name of the server, for people. */
  readonly title?: string;
  /** What a model should know before it uses the tools: what they are for, in which order. */
  readonly instructions?: string;
  /** The path that a client is given: `/mcp` unless given. */
  readonly path?: string;
  /**
   * Inputs that every message needs, such as a credential: a refusal of one is the HTTP response, before the message is read. The
   * inputs of a tool's route are read in any case.
   */
  readonly inputs?: Inputs;
  /** What a client may read by a URI, each made by `Mcp.resource`. */
  readonly resources?: readonly McpResource[];
  /** The prompts, each made by `Mcp.prompt`. */
  readonly prompts?: readonly McpPrompt[];
  /**
   * Where a client signs in (OAuth 2.1). It adds the route of the protected resource's metadata (RFC 9728), and a 401, of `inputs` or
   * of a tool, is an HTTP response whose `WWW-Authenticate` names it.
   */
  readonly authorization?: McpAuthorization;
  /**
   * The hosts that the server is reached by, without a port: `["api.example.com"]`. Where they are given, a request must name one of
   * them or this machine, in `Host` and in `Origin`. Unless given, a request from this machine must name this machine, and a page's
   * `Origin` must be of this machine, in the app's `trustedOrigins` or in its `cors`: a page elsewhere could reach the server by DNS
   * rebinding.
   */
  readonly hosts?: readonly string[];
  /** The most tools of one page of a list: 250 unless given. */
  readonly pageSize?: number;
  /** The most bytes of the answer of a tool: 1 MiB unless given. A longer one is an error of the tool. */
  readonly maxAnswer?: number;
}

/**
 * The route that serves those routes as tools that have `Meta.tool`, by the Model Context Protocol (Streamable HTTP, without
 * sessions). A call of a tool is a request of its route, in process and through the whole app: with the caller's
 * credentials, its checks, limits, log lines and trace. A refusal is an error of the tool, with `error`, `message` and `problems`.
 *
 * @param routes The routes of the app; those without `Meta.tool` are left out.
 * @throws TypeError for a wrong option. What cannot be a tool is refused by `App.make`, with the name of the route.
 * @example
 * ```ts
 * await serve([...routes, ...Mcp.routes(routes, { name: "orders", version: "1" })], { port: 8080 });
 * ```
 */
export function routes(routes: readonly Route[], options: McpOptions): readonly Route[] {
  needs(areRoutes(routes), "Mcp.routes: routes", routes, "a list of routes");
  const { path = "/mcp", inputs = {}, hosts, authorization, ...more } = mcpOptions(options);
  checkMembers([...routes, ...(more.resources ?? []).map(({ route }) => route)]);
  const { pageSize = 250, maxAnswer = 1_048_576, name, version, title, instructions } = more;
  const problems: string[] = [];
  const [uris, names] = [new Map<string, string>(), new Set<string>()];
  const tools = compileTools(routes, problems);
  const resources = (more.resources ?? []).map((resource) => compileResource(resource, uris, problems));
  const prompts = (more.prompts ?? []).map((prompt) => compilePrompt(prompt, names, problems));
  const info = { name, ...(title === undefined ? {} : { title }), version };
  const isProtected = authorization !== undefined;
  const isOpen = Object.keys(inputs).length === 0;
  const parts = { info, instructions, tools, resources, prompts, pageSize, maxAnswer, isProtected, isOpen };
  const server = new McpServer(parts);
  const allowed = hosts === undefined ? undefined : new Set(hosts.map((host) => host.toLowerCase()));
  const challenge = authorization === undefined ? undefined : challengeOf(authorization);
  const received: Dep<ReceivedRequest> = {
    node: {
      from: [],
      check: (_format, { routes }) => [...problems, ...wrongCalls([...tools, ...resources], routes)],
      compile: () => (request, _values, reading) => new ReceivedRequest(request, reading),
    },
  };
  const guards = challenge === undefined ? inputs : challenging(inputs, challenge);
  const served = { server, hosts: allowed, challenge };
  const route = post(
    of(...segmentsOf(path)),
    {
      summary: "Messages of the Model Context Protocol",
      meta: ofMessages,
      inputs: { ...guards, received, message: messageText },
      returns: Returns.response,
    },
    (given) => {
      const { received, message } = given as unknown as { received: ReceivedRequest; message: MessageText };
      return answerTo(served, received, message.text);
    },
  );
  return [route, ...(authorization === undefined ? [] : [metadataRoute(authorization)])];
}

// A tool has the deadline of its own route.
const ofMessages: Meta = /* @__PURE__ */ empty.add(hidden, true).add(deadline, "none");

/**
 * Makes a resource of a `GET` route: what a client may read by a URI and put into the context of a model. It is one of the option
 * `resources` of `Mcp.routes`. To read it is a request of the route, as the call of a tool is.
 *
 * @throws TypeError for a wrong option.
 * @example
 * ```ts
 * const tools = Mcp.routes(routes, { name: "orders", version: "1", resources: [Mcp.resource(oneOrder)] });
 * ```
 */
export function resource(route: Route, options: ResourceOptions = {}): McpResource {
  return madeResource(route, options);
}

function segmentsOf(path: string): readonly string[] {
  return path.split("/").filter((segment) => segment !== "");
}

interface MessageText {
  readonly text: string | undefined;
}

const messageBytes = /* @__PURE__ */ ofBody({ contentTypes: ["application/json"] }, (bytes) => bytes);

const messageText: Dep<MessageText> = {
  node: { ...messageBytes.node, compile: () => (request) => ({ text: request.text }) },
};

/** The server calls only routes of its app. The copy of a route that a group makes is another route. */
function wrongCalls(called: readonly { readonly route: Route }[], routes: readonly object[]): readonly string[] {
  const others = called.map(({ route }) => route).filter((route) => !routes.includes(route));
  return [...new Set(others)].map(({ method, pattern }) => `calls ${method} ${pattern}, which is no route of the app`);
}

function mcpOptions(options: McpOptions): McpOptions {
  needsOptions(
    "Mcp.routes",
    options,
    "name version title instructions path inputs resources prompts authorization hosts pageSize maxAnswer",
  );
  const { name, version, title, instructions, path, inputs, resources, prompts } = options;
  const { authorization, hosts, pageSize, maxAnswer } = options;
  for (const [member, text] of Object.entries({ name, version })) needsText(`Mcp.routes: ${member}`, text);
  for (const [member, text] of Object.entries({ title, instructions, path })) {
    if (text !== undefined) needsText(`Mcp.routes: ${member}`, text);
  }
  if (path !== undefined && !path.startsWith("/")) throw new TypeError("Mcp.routes: path must begin with a slash");
  if (inputs !== undefined) needsObject("Mcp.routes: inputs", inputs);
  for (const taken of ["received", "message"]) {
    if (inputs !== undefined && taken in inputs)
      throw new TypeError(`Mcp.routes: inputs has ${taken}, which is its own`);
  }
  if (hosts !== undefined) needsTexts("Mcp.routes: hosts", hosts);
  const areResources = resources === undefined || isListOf(resources, isResource);
  needs(areResources, "Mcp.routes: resources", resources, "a list made by Mcp.resource");
  const arePrompts = prompts === undefined || isListOf(prompts, isPrompt);
  needs(arePrompts, "Mcp.routes: prompts", prompts, "a list made by Mcp.prompt");
  if (authorization !== undefined) checkAuthorization(authorization);
  for (const [member, count] of Object.entries({ pageSize, maxAnswer })) {
    if (count !== undefined) needsCount(`Mcp.routes: ${member}`, count);
  }
  return options;
}

/** From JavaScript a route may have anything, and nothing else can be described. */
function checkMembers(routes: readonly Route[]): void {
  const [wrong] = routes.flatMap(wrongMembers);
  if (wrong !== undefined) throw new TypeError(`Mcp.routes: ${wrong}`);
}

export { prompt } from "./prompts.ts";
export type { McpPrompt, PromptMessage, PromptOptions } from "./prompts.ts";
export type { McpResource, ResourceOptions } from "./resources.ts";
export type { McpAuthorization } from "./authorization.ts";
