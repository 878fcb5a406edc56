/** Prompts: texts that a person chooses, for a model to work with. */
import { isObject, isRecord, needs, needsFunction, needsOptions, needsSchema, needsText } from "../../src/arguments.ts";
import type { Awaitable } from "../../src/doors/inputs.ts";
import { describeShape } from "../../src/openapi/tool-schemas.ts";
import type { Problem } from "../../src/refusals.ts";
import { compileReader } from "../../src/doors/schema.ts";
import type { OutputOf, StandardSchema, AnyStandard, AnyShape, ValueOf } from "../../src/doors/schema.ts";
import { maxListed } from "./arguments.ts";
import { ProtocolError, errorCodes } from "./protocol.ts";
import type { MessageParams } from "./protocol.ts";

/** A message of a prompt: a text, or a block of content as the protocol has it (an image, a resource). */
export interface PromptMessage {
  /** Who says it. */
  readonly role: "user" | "assistant";
  /** What the role says. */
  readonly content: string | { readonly type: string; readonly [member: string]: unknown };
}

/** How a prompt is described. */
export interface PromptOptions {
  /** A name for people. */
  readonly title?: string;
  /** What it is for. */
  readonly description?: string;
}

/** A prompt, made by `Mcp.prompt`. */
export interface McpPrompt {
  /** Its name, which is one prompt's alone. */
  readonly name: string;
  /** Internal. */
  readonly node: {
    readonly shape: AnyStandard;
    readonly write: Write<never>;
    readonly options: PromptOptions;
  };
}

/** What a prompt writes of its arguments. */
type Write<A> = (given: A) => Awaitable<string | readonly PromptMessage[]>;

/** The arguments of a prompt: the value of a shape, or the output of another library's schema. */
type PromptValue<S extends AnyStandard> = S extends AnyShape
  ? ValueOf<S>
  : S extends StandardSchema
    ? OutputOf<S>
    : never;

/**
 * A prompt: a text for a model, which a person chooses by its name. Its arguments are texts.
 *
 * @param shape An object of texts, whose members are the arguments. What it refuses is an error of the protocol.
 * @param write Makes the text, or the messages.
 * @example
 * ```ts
 * const review = Mcp.prompt("review", v.object({ item: v.string() }), ({ item }) => `Look at the orders of ${item}.`);
 * ```
 */
export function prompt<S extends AnyStandard>(
  name: string,
  shape: S,
  write: Write<PromptValue<S>>,
  options: PromptOptions = {},
): McpPrompt {
  needsText("Mcp.prompt: its name", name);
  needsSchema("Mcp.prompt: its shape", shape);
  needsFunction("Mcp.prompt: its block", write);
  needsOptions("Mcp.prompt", options, "title description");
  const { title = "", description = "" } = options;
  needsText("Mcp.prompt: title", title);
  needsText("Mcp.prompt: description", description);
  return { name, node: { shape, write, options } };
}

/** From JavaScript it may be anything. */
export function isPrompt(prompt: unknown): boolean {
  return isObject(prompt) && isObject(prompt["node"]) && typeof prompt["node"]["write"] === "function";
}

/** A prompt, compiled once. */
export interface CompiledPrompt {
  readonly name: string;
  /** What a list says of it, as JSON. */
  readonly listed: string;
  /** The members of its result, or an error for wrong arguments. */
  readonly get: (params: MessageParams) => Promise<string | ProtocolError>;
}

/**
 * Compiles a prompt. Each problem follows the name of the route that serves the messages.
 *
 * @param taken The names of those before it.
 */
export function compilePrompt({ name, node }: McpPrompt, taken: Set<string>, problems: string[]): CompiledPrompt {
  const { shape, write, options } = node;
  if (taken.has(name)) problems.push(`has two prompts named ${name}`);
  taken.add(name);
  const schema = describeShape(shape, (what) => problems.push(`has the prompt ${name}, which ${what}`));
  if (schema["type"] !== "object") problems.push(`has the prompt ${name}, whose shape is not an object of texts`);
  const required = (schema["required"] as readonly string[] | undefined) ?? [];
  const properties = Object.entries((schema["properties"] as object | undefined) ?? {});
  const given = properties.map(([member, about]) => {
    const description: unknown = isObject(about) ? about["description"] : undefined;
    return {
      name: member,
      ...(typeof description === "string" ? { description } : {}),
      required: required.includes(member),
    };
  });
  const { readBody } = compileReader(shape);
  const listed = JSON.stringify({ name, ...options, ...(given.length === 0 ? {} : { arguments: given }) });
  const get = async ({ arguments: values = {} }: MessageParams): Promise<string | ProtocolError> => {
    const wrong = notTexts(values);
    const read = wrong.length === 0 ? await readBody(JSON.stringify(values), within) : undefined;
    if (read?.ok !== true) {
      const problems = wrong.length > 0 ? wrong : (read?.error ?? []).map(problemOf);
      return new ProtocolError(errorCodes.invalidParams, "The arguments are not what the prompt takes.", {
        data: { problems },
      });
    }
    const messages = messagesOf(name, await write(read.value as never));
    const { description } = options;
    return JSON.stringify({ ...(description === undefined ? {} : { description }), messages }).slice(1, -1);
  };
  return { name, listed, get };
}

const within = "arguments";

/** A problem of an argument, by its name. */
function problemOf({ at, code, message }: Problem): object {
  return { at: at.startsWith(`${within}.`) ? at.slice(within.length + 1) : at, code, message };
}

/** Why some arguments are not texts by their names. */
function notTexts(values: unknown): readonly object[] {
  const code = "unexpected_type";
  if (!isRecord(values)) return [{ at: within, code, message: "This must be an object." }];
  return Object.entries(values)
    .filter(([, value]) => typeof value !== "string")
    .slice(0, maxListed)
    .map(([at]) => ({ at, code, message: "This must be text." }));
}

function messagesOf(name: string, written: string | readonly PromptMessage[]): readonly object[] {
  const messages = typeof written === "string" ? [{ role: "user", content: written }] : written;
  needs(Array.isArray(messages), `Mcp.prompt: what ${name} wrote`, messages, "a text or a list of messages");
  return messages.map(({ role, content }) => ({
    role,
    content: typeof content === "string" ? { type: "text", text: content } : content,
  }));
}
