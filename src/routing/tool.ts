import { isObject, kindOf, needs, needsOptions } from "../arguments.ts";

/** How a route is described to an agent that has it as a tool (Model Context Protocol). */
export interface Tool {
  /**
   * The tool's name: 1 to 128 ASCII letters, digits, `_`, `-` and `.`, and one tool's alone. The route's `operationId` unless given,
   * or its method and path: `post_orders`.
   */
  readonly name?: string;
  /** A name for people: the route's summary unless given. */
  readonly title?: string;
  /** What the tool does and when to use it, for the model: the route's summary and description unless given. */
  readonly description?: string;
  /** Whether it changes nothing: true of a `GET`, a `HEAD` and a `QUERY` unless given. */
  readonly readOnly?: boolean;
  /** Whether it may remove or replace what is there: true of all that is not `readOnly` unless given, as no method promises it. */
  readonly destructive?: boolean;
  /** Whether a second call with the same arguments changes nothing more: false of a `POST` and a `PATCH` unless given. */
  readonly idempotent?: boolean;
  /**
   * What a call of a route with `Returns.events` gets: `content`, the list of events once the stream ends, unless given; or
   * `progress`, a progress notification for each event, and then how many there were.
   */
  readonly events?: "content" | "progress";
}

/** The key of a tool among a route's metadata. */
interface ToolKey {
  readonly description: string;
  readonly type?: (value: Tool) => Tool;
}

/** Not public: a route becomes a tool by `Meta.tool` alone, which looks at the options. */
export const toolKey: ToolKey = { description: "tool" };

const flags: ReadonlySet<string> = new Set(["readOnly", "destructive", "idempotent"]);
const texts: ReadonlySet<string> = new Set(["name", "title", "description"]);

/** The options, which from JavaScript may be anything. A misspelt one would leave a tool without its hint. */
export function checkedTool(tool: Tool): Tool {
  needsOptions("Meta.tool", tool, "name title description readOnly destructive idempotent events");
  for (const [name, value] of Object.entries(tool) as [string, unknown][]) {
    if (value === undefined) continue;
    if (flags.has(name)) needs(typeof value === "boolean", `Meta.tool: ${name}`, value, "true or false");
    else if (texts.has(name)) needs(typeof value === "string", `Meta.tool: ${name}`, value, "a text");
    else if (name !== "events") throw notOption(name);
    else if (value !== "content" && value !== "progress") {
      throw new TypeError(
        `Meta.tool: events is ${isObject(value) ? kindOf(value) : "another value"}, and not "content" or "progress"`,
      );
    }
  }
  return tool;
}

function notOption(name: string): TypeError {
  const options = [...texts, ...flags, "events"].join(", ");
  return new TypeError(`Meta.tool: ${name} is not one of its options: ${options}`);
}
