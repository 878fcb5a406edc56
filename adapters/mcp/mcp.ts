/** The `Mcp` namespace: routes of an app as tools of an agent, by the Model Context Protocol. */
import * as Returns from "../../src/answers/returns.ts";
import type { RequestState } from "../../src/app/request.ts";
import { needs, needsCount, needsObject, needsText, needsTexts } from "../../src/given.ts";
import type { Dep, Inputs } from "../../src/inputs/dep.ts";
import { ofBody } from "../../src/inputs/body-inputs.ts";
import { deadline, empty, hidden } from "../../src/routing/meta.ts";
import { of } from "../../src/routing/path.ts";
import { post } from "../../src/routing/route.ts";
import type { Route } from "../../src/routing/route.ts";
import { answerTo } from "./http.ts";
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
  /**
   * The hosts that the server is reached by, without a port: `["api.example.com"]`. Where they are given, a request must name one of
   * them or this machine, in `Host` and in `Origin`. Unless given, a request from this machine must name this machine, and a page's
   * `Origin` must be of this machine or in the app's `trustedOrigins`: a page elsewhere could reach the server by DNS rebinding.
   */
  readonly hosts?: readonly string[];
  /** The most tools of one page of a list: 250 unless given. */
  readonly pageSize?: number;
  /** The most bytes of the answer of a tool: 1 MiB unless given. A longer one is an error of the tool. */
  readonly maxAnswer?: number;
}

const members: readonly string[] = "name version title instructions path inputs hosts pageSize maxAnswer".split(" ");

/**
 * The route that serves those routes as tools that have `Meta.tool`, by the Model Context Protocol (Streamable HTTP, without
 * sessions). A call of a tool is a request of its route, in process and through the whole app: with the caller's credentials, its
 * checks, limits, log lines and trace. A refusal is an error of the tool, with `error`, `message` and `problems`.
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
  const { path = "/mcp", inputs = {}, hosts, pageSize = 250, maxAnswer = 1_048_576 } = checked(options);
  const problems: string[] = [];
  const tools = compileTools(routes, problems);
  const { name, version, title, instructions } = options;
  const info = { name, ...(title === undefined ? {} : { title }), version };
  const server = new McpServer({ info, instructions, tools, pageSize, maxAnswer });
  const allowed = hosts === undefined ? undefined : new Set(hosts.map((host) => host.toLowerCase()));
  const asking: Dep<RequestState> = {
    node: {
      from: [],
      calls: tools.map(({ route }) => route),
      check: () => problems,
      // The state of the request is what an app makes of an exchange, and it alone.
      compile: () => (request) => request,
    },
  };
  const route = post(
    of(...path.split("/").filter((segment) => segment !== "")),
    {
      summary: "Messages of the Model Context Protocol",
      // A tool has the deadline of its own route.
      meta: empty.add(hidden, true).add(deadline, "none"),
      inputs: { ...inputs, asking, message: messageText },
      returns: Returns.response,
    },
    (given) => {
      const { asking, message } = given as unknown as { asking: RequestState; message: { text: string | undefined } };
      return answerTo(server, asking, message.text, allowed);
    },
  );
  return [route];
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const messageText = /* @__PURE__ */ ofBody({ contentTypes: ["application/json"] }, (bytes) => {
  try {
    return { text: utf8.decode(bytes) };
  } catch {
    return { text: undefined };
  }
});

function checked(options: McpOptions): McpOptions {
  needsObject("Mcp.routes: options", options);
  for (const member of Object.keys(options)) {
    if (!members.includes(member))
      throw new TypeError(`Mcp.routes: ${member} is not one of its options: ${members.join(", ")}`);
  }
  const { name, version, title, instructions, path, inputs, hosts, pageSize, maxAnswer } = options;
  for (const [member, text] of Object.entries({ name, version })) needsText(`Mcp.routes: ${member}`, text);
  for (const [member, text] of Object.entries({ title, instructions, path })) {
    if (text !== undefined) needsText(`Mcp.routes: ${member}`, text);
  }
  if (path !== undefined && !path.startsWith("/")) throw new TypeError("Mcp.routes: path must begin with a slash");
  if (inputs !== undefined) needsObject("Mcp.routes: inputs", inputs);
  for (const taken of ["asking", "message"]) {
    if (inputs !== undefined && taken in inputs)
      throw new TypeError(`Mcp.routes: inputs has ${taken}, which is its own`);
  }
  if (hosts !== undefined) needsTexts("Mcp.routes: hosts", hosts);
  for (const [member, count] of Object.entries({ pageSize, maxAnswer })) {
    if (count !== undefined) needsCount(`Mcp.routes: ${member}`, count);
  }
  return options;
}
