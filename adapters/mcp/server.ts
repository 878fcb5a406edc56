/** What the server answers to each message: what it is, lists, calls of tools, resources and prompts. */
import type { WireResponse } from "../../src/app/exchange.ts";
import type { InnerCalls } from "../../src/app/inner-call.ts";
import { andThen } from "../../src/doors/base.ts";
import type { ReadEvent } from "../../src/doors/events.ts";
import { isRecord } from "../../src/arguments.ts";
import type { AnyDep } from "../../src/doors/inputs.ts";
import { GivenArguments, argumentsOf } from "./arguments.ts";
import { List } from "./list.ts";
import type { CompiledPrompt } from "./prompts.ts";
import { resourceContents } from "./resources.ts";
import type { CompiledResource } from "./resources.ts";
import { ProtocolError, errorCodes, notificationText, serverMember, unknownMethod, versions } from "./protocol.ts";
import type { McpMessage, MessageParams } from "./protocol.ts";
import { Refusal, invalid, notFound, refuse, sentenceOf } from "../../src/refusals.ts";
import { BrokenStream, eventOf, failure, toolResult } from "./result.ts";
import type { WriteRefusal } from "./result.ts";
import type { CompiledTool } from "./tool.ts";

/** What the server says of itself. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
}

/** What the server is made of. */
export interface ServerParts {
  readonly info: ServerInfo;
  readonly instructions: string | undefined;
  readonly tools: readonly CompiledTool[];
  readonly resources: readonly CompiledResource[];
  readonly prompts: readonly CompiledPrompt[];
  readonly pageSize: number;
  readonly maxAnswer: number;
  /** Whether a 401 is one of HTTP, so that a client signs in. */
  readonly isProtected: boolean;
  /** Whether it answers every caller: it has no inputs that could refuse one. */
  readonly isOpen: boolean;
}

/** Writes a notification of a request, before its result. */
export type Notify = (text: string) => Promise<void>;

/** A tool's answer whose events are progress. */
export interface ToolEvents {
  /** Reads them to their end. Without `notify` the client gets the result alone. */
  readonly read: (notify: Notify | undefined) => MessageOutcome | Promise<MessageOutcome>;
  /** Ends them in place of reading. */
  readonly drop: () => void;
}

/** One message to answer. */
export interface MessageRequest {
  readonly received: MessageSender;
  readonly message: McpMessage;
  /** Aborts where the client cancels, or has gone. It is made once the route reads it: to make a signal takes a sixth of a call. */
  readonly gone: () => AbortSignal;
}

/** What the answer to a call depends on, besides its tool. */
interface CallContext {
  readonly params: MessageParams;
  readonly hasMiddleware: boolean;
  readonly writeRefusal: WriteRefusal;
  readonly gone: () => AbortSignal;
}

/** Who sent a message, by which request. */
interface MessageSender {
  readonly calls: InnerCalls;
  /** Whether the caller may call a route, as far as its credentials say. */
  mayCall(guards: readonly AnyDep[]): Promise<boolean>;
}

/** The members of a result, as JSON text; or an error. */
export type MessageOutcome = string | ProtocolError;

/** The outcome of a call, or the events of its answer. */
type Begun = MessageOutcome | ToolEvents;

type MessageHandler = (received: MessageRequest) => MessageOutcome | Promise<MessageOutcome>;

/** A server of the Model Context Protocol without state of its own: each message is answered by itself. */
export class McpServer {
  readonly #parts: ServerParts;
  readonly #tools: ReadonlyMap<string, CompiledTool>;
  /** Those of one URI before the templates, which may have that URI too. */
  readonly #resources: readonly CompiledResource[];
  readonly #handlers: ReadonlyMap<string, MessageHandler>;

  constructor(parts: ServerParts) {
    this.#parts = parts;
    this.#tools = new Map(parts.tools.map((tool) => [tool.name, tool]));
    const { pageSize, isOpen, resources, prompts } = parts;
    const tools = new List("tools", parts.tools, pageSize, isOpen);
    const ofOneUri = resources.filter(({ isTemplate }) => !isTemplate);
    const ofTemplates = resources.filter(({ isTemplate }) => isTemplate);
    this.#resources = [...ofOneUri, ...ofTemplates];
    const fixed = new List("resources", ofOneUri, pageSize, isOpen);
    const templates = new List("resourceTemplates", ofTemplates, pageSize, isOpen);
    this.#handlers = new Map<string, MessageHandler>([
      ["server/discover", () => this.#discover()],
      ["tools/list", (received) => this.#listTools(tools, received)],
      ["tools/call", (received) => this.#call(received)],
      ...(resources.length === 0 ? [] : this.#ofResources(fixed, templates)),
      ...(prompts.length === 0 ? [] : this.#ofPrompts(new List("prompts", prompts, pageSize, isOpen))),
    ]);
  }

  /** Whether the answer to a message has notifications before its result. */
  notifies({ method, params }: McpMessage): boolean {
    if (method !== "tools/call" || progressTokenOf(params) === undefined) return false;
    return named(this.#tools, params)?.isProgress === true;
  }

  /** Answers a message that has an id. */
  answer(received: MessageRequest): MessageOutcome | Promise<MessageOutcome> {
    const known = this.#handlers.get(received.message.method);
    if (known === undefined) return unknownMethod;
    return andThen(known(received), (outcome) => this.#finished(outcome));
  }

  /** Begins a call whose events are progress: its outcome where it has no events, or else the events. */
  async begin(received: MessageRequest): Promise<Begun> {
    const begun = await this.#begin(received);
    if (!isEvents(begun)) return this.#finished(begun);
    return { ...begun, read: async (notify) => this.#finished(await begun.read(notify)) };
  }

  #finished(outcome: MessageOutcome): MessageOutcome {
    if (typeof outcome !== "string") return outcome;
    return `"resultType":"complete","_meta":${JSON.stringify({ [serverMember]: this.#parts.info })},${outcome}`;
  }

  #discover(): string {
    const { instructions, resources, prompts } = this.#parts;
    const capabilities = {
      tools: {},
      ...(resources.length === 0 ? {} : { resources: {} }),
      ...(prompts.length === 0 ? {} : { prompts: {} }),
    };
    const about = { capabilities, ...(instructions === undefined ? {} : { instructions }) };
    return membersOf({ supportedVersions: versions, ...about, ttlMs: 0, cacheScope: "private" });
  }

  /** The tools that the caller may call, where their routes' credentials can say so without the rest of a request. */
  async #listTools(list: List<CompiledTool>, { message, received }: MessageRequest): Promise<MessageOutcome> {
    const { tools } = this.#parts;
    if (tools.every(({ guards }) => guards.length === 0)) return list.page(message);
    const shown = new Set<CompiledTool>();
    for (const tool of tools) if (tool.guards.length === 0 || (await received.mayCall(tool.guards))) shown.add(tool);
    return list.page(message, shown);
  }

  #ofResources(
    fixed: List<CompiledResource>,
    templates: List<CompiledResource>,
  ): readonly (readonly [string, MessageHandler])[] {
    return [
      ["resources/list", ({ message }) => fixed.page(message)],
      ["resources/templates/list", ({ message }) => templates.page(message)],
      ["resources/read", (received) => this.#read(received)],
    ];
  }

  #ofPrompts(prompts: List<CompiledPrompt>): readonly (readonly [string, MessageHandler])[] {
    const byName = new Map(this.#parts.prompts.map((prompt) => [prompt.name, prompt]));
    return [
      ["prompts/list", ({ message }) => prompts.page(message)],
      [
        "prompts/get",
        ({ message: { params } }) =>
          named(byName, params)?.get(params) ?? invalidParams("There is no prompt of this name."),
      ],
    ];
  }

  async #read({ received: { calls }, message, gone }: MessageRequest): Promise<MessageOutcome> {
    const { uri } = message.params;
    if (typeof uri !== "string") return invalidParams("The URI is not a text.");
    const missing = invalidParams("There is no resource of this URI.");
    for (const resource of this.#resources) {
      const given = resource.read(uri);
      const made = given === undefined ? undefined : resource.maker.make(new GivenArguments(given));
      if (made === undefined || "length" in made) continue;
      const sent = await calls.call(resource.route, made, gone);
      // Another route answers this path: another template may have its URI.
      if (sent === undefined) continue;
      if (sent.status === 404) {
        sent.unsent?.();
        return missing;
      }
      const { isProtected, maxAnswer } = this.#parts;
      if (sent.status === 401 && isProtected) {
        sent.unsent?.();
        return signIn;
      }
      const contents = await resourceContents(uri, sent, { maxAnswer, gone }).catch(unlessBroken);
      if (contents instanceof BrokenStream) return unreadable(500);
      if (contents === undefined) return new ProtocolError(errorCodes.internal, "The resource is too long.");
      if (sent.status >= 300) return unreadable(sent.status);
      return `"contents":${contents},"ttlMs":0,"cacheScope":"private"`;
    }
    return missing;
  }

  #call(received: MessageRequest): MessageOutcome | Promise<MessageOutcome> {
    return andThen(this.#begin(received), (begun) => (isEvents(begun) ? begun.read(undefined) : begun));
  }

  #begin({ received: { calls }, message, gone }: MessageRequest): Begun | Promise<Begun> {
    const tool = named(this.#tools, message.params);
    if (tool === undefined) return invalidParams("There is no tool of this name.");
    const given = argumentsOf(message);
    if (given === undefined) return invalidParams("The arguments are not an object.");
    const made = tool.maker.make(given);
    const writeRefusal: WriteRefusal = (refusal) => calls.refusal(refusal);
    if ("length" in made) {
      return failure(writeRefusal, new Refusal(invalid, sentenceOf(invalid), { problems: made }));
    }
    const sent = calls.call(tool.route, made, gone);
    if (sent === undefined) return failure(writeRefusal, refuse(notFound));
    const call = { params: message.params, hasMiddleware: calls.hasMiddleware, writeRefusal, gone };
    return andThen(sent, (sent) => this.#answered(tool, made.target, call, sent));
  }

  #answered(
    tool: CompiledTool,
    target: string,
    { params, hasMiddleware, writeRefusal, gone }: CallContext,
    sent: WireResponse,
  ): Begun | Promise<Begun> {
    const { isProtected, maxAnswer } = this.#parts;
    if (sent.status === 401 && isProtected) {
      sent.unsent?.();
      return signIn;
    }
    const options = { maxAnswer, hasMiddleware, writeRefusal, gone };
    if (!tool.isProgress || sent.status >= 400) return toolResult(tool, target, sent, options);
    return {
      read: (notify) => toolResult(tool, target, sent, { ...options, onEvent: progressOf(params, notify) }),
      drop: () => sent.unsent?.(),
    };
  }
}

/** Whether a call has begun whose events are to be read. */
export function isEvents(begun: Begun): begun is ToolEvents {
  return typeof begun === "object" && "read" in begun;
}

/** What has the name that some params give. */
function named<A>(all: ReadonlyMap<string, A>, { name }: MessageParams): A | undefined {
  return typeof name === "string" ? all.get(name) : undefined;
}

const signIn = new ProtocolError(errorCodes.refused, "Sign in.", { status: 401 });

function membersOf(result: object): string {
  return JSON.stringify(result).slice(1, -1);
}

function unlessBroken(thrown: unknown): BrokenStream {
  if (thrown instanceof BrokenStream) return thrown;
  throw thrown;
}

/** Of a refusal the status alone: its sentence is for the caller of a route, and a resource has none. A redirect has no content. */
function unreadable(status: number): ProtocolError {
  return new ProtocolError(errorCodes.internal, `The resource cannot be read: status ${status}.`, { data: { status } });
}

function invalidParams(message: string): ProtocolError {
  return new ProtocolError(errorCodes.invalidParams, message);
}

function progressTokenOf({ _meta: meta }: MessageParams): string | number | undefined {
  const token = isRecord(meta) ? meta["progressToken"] : undefined;
  return typeof token === "string" || Number.isSafeInteger(token) ? (token as string | number) : undefined;
}

/** Tells each event of a stream as progress; where the client gets none, the events are only counted. */
function progressOf(
  params: MessageParams,
  notify: Notify | undefined,
): (event: ReadEvent, count: number) => Promise<void> {
  const progressToken = progressTokenOf(params);
  return async (event, progress) => {
    if (notify === undefined || progressToken === undefined) return;
    const message = eventOf(event);
    await notify(notificationText("notifications/progress", { progressToken, progress, message }));
  };
}
