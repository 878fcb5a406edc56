/** JSON-RPC messages of the Model Context Protocol: one message of a client, read with care, and what is answered to it. */
import { isRecord } from "../../src/arguments.ts";
import { decodeBase64url } from "../../src/doors/http.ts";

/** The first version in which each request names its version: it needs no handshake and no session. */
const version = "2026-07-28";
/** What the server supports. */
export const versions: readonly string[] = [version];

export const errorCodes = {
  parse: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  /** Of the whole exchange and no message: a host, an origin, a missing credential. */
  refused: -32_000,
  headerMismatch: -32_020,
  unsupportedVersion: -32_022,
} as const;

/** An error of the protocol. Its message is ours: it has no word of the client's. */
export class ProtocolError {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly data: object | undefined;
  /** The id of the message that it is of, where that could be read. */
  readonly id: Id | undefined;

  constructor(
    code: number,
    message: string,
    options: { readonly status?: number; readonly data?: object; readonly id?: Id | undefined } = {},
  ) {
    this.code = code;
    this.message = message;
    this.status = options.status ?? 200;
    this.data = options.data;
    this.id = options.id;
  }
}

type Id = string | number;

export interface MessageParams {
  readonly [member: string]: unknown;
}

/** A message of a client: a request has an id, and a notification has none. */
export interface McpMessage {
  readonly id: Id | undefined;
  readonly method: string;
  readonly params: MessageParams;
  /** The whole of it, as it was sent. */
  readonly text: string;
}

/** The values of a header of the exchange. */
export type LinesOf = (name: string) => readonly string[];

const metaPrefix = "io.modelcontextprotocol/";
const versionMember: string = `${metaPrefix}protocolVersion`;
export const serverMember: string = `${metaPrefix}serverInfo`;

/** Reads a body; an error where it is no message, `"nothing"` for what needs no answer. */
export function readMessage(text: string | undefined, lines: LinesOf): McpMessage | ProtocolError | "nothing" {
  let json: unknown;
  try {
    json = text === undefined ? undefined : JSON.parse(text);
  } catch {
    // Its error would quote the body.
  }
  if (text === undefined || json === undefined)
    return new ProtocolError(errorCodes.parse, "The body is not JSON.", { status: 400 });
  if (Array.isArray(json)) return invalid("The body is a list: send each message in a request of its own.");
  if (!isRecord(json) || json["jsonrpc"] !== "2.0") return invalid("The body is no message of JSON-RPC 2.0.");
  const { id, method, params = {} } = json;
  if (method === undefined && ("result" in json || "error" in json)) return "nothing";
  if (typeof method !== "string") return invalid("The message has no method.");
  if (id !== undefined && !isId(id)) return invalid("The message has an id that is neither a text nor a whole number.");
  if (!isRecord(params)) return invalid("The message has params that are not an object.", id);
  const message: McpMessage = { id, method, params, text };
  const wrong = wrongVersion(message, lines);
  return wrong === undefined ? message : ofMessage(wrong, id);
}

function invalid(message: string, id?: Id): ProtocolError {
  return new ProtocolError(errorCodes.invalidRequest, message, { status: 400, id });
}

function ofMessage({ code, message, status, data }: ProtocolError, id: Id | undefined): ProtocolError {
  return new ProtocolError(code, message, { status, id, ...(data === undefined ? {} : { data }) });
}

function isId(id: unknown): id is Id {
  return typeof id === "string" || Number.isSafeInteger(id);
}

function only(lines: readonly string[]): string | undefined {
  return lines.length === 1 ? lines[0] : undefined;
}

/**
 * Each request names its version in its body. Its headers say again what its body says, for proxies. Only a request has headers of
 * its own: a notification is checked where it names a version.
 */
function wrongVersion(message: McpMessage, lines: LinesOf): ProtocolError | undefined {
  const { id, method, params } = message;
  const named = lines("mcp-protocol-version");
  const isRequest = id !== undefined;
  const meta = isRecord(params["_meta"]) ? params["_meta"] : {};
  if (!(versionMember in meta)) {
    // Clients of before show their user the message of this error, and have no other way to find out.
    if (isRequest && method === "initialize") return unsupported(params["protocolVersion"], noHandshake);
    if (named.length > 0 && only(named) !== version) return unsupported(only(named));
    if (!isRequest) return undefined;
    return named.length === 0 ? otherVersion : missingVersion;
  }
  const given = meta[versionMember];
  if (typeof given !== "string") return badMeta(`${versionMember} is not a text`);
  if (named.length > 0 && only(named) !== given) return otherVersion;
  if (given !== version) return unsupported(given);
  if (!isRecord(meta[`${metaPrefix}clientCapabilities`])) {
    return badMeta(`${metaPrefix}clientCapabilities is missing, or not an object`);
  }
  if (!isRequest) return undefined;
  return named.length === 0 ? otherVersion : wrongHeaders(message, lines);
}

/** What the headers of a request do not say as its body does, besides the version. */
function wrongHeaders({ method, params }: McpMessage, lines: LinesOf): ProtocolError | undefined {
  if (only(lines("mcp-method")) !== method) return mismatch("Mcp-Method", "the method of its body");
  const name = method === "resources/read" ? params["uri"] : namedMethods.has(method) ? params["name"] : undefined;
  if (typeof name !== "string") return undefined;
  return plainOf(only(lines("mcp-name"))) === name ? undefined : mismatch("Mcp-Name", "what its body names");
}

const noHandshake = `There is no initialize: this server supports the protocol version ${version}, which a request names in params._meta`;

/** The protocol requires to repeat it: what may be a version, as `2024-11-05` or `v9.0`, and no other text of a client. */
function unsupported(
  requested: unknown,
  message = `Unsupported protocol version: this server supports ${version}`,
): ProtocolError {
  const isVersion = typeof requested === "string" && /^[a-z]?\d[\d.-]{0,15}$/.test(requested);
  const data = { supported: versions, requested: isVersion ? requested : "invalid" };
  return new ProtocolError(errorCodes.unsupportedVersion, message, { status: 400, data });
}

const namedMethods: ReadonlySet<string> = new Set(["tools/call", "prompts/get"]);

function badMeta(what: string): ProtocolError {
  return new ProtocolError(errorCodes.invalidParams, `In params._meta, ${what}.`, { status: 400 });
}

function mismatch(header: string, what: string): ProtocolError {
  const message = `The header ${header} is missing, or is not ${what}.`;
  return new ProtocolError(errorCodes.headerMismatch, message, { status: 400 });
}

export const unknownMethod: ProtocolError = new ProtocolError(
  errorCodes.methodNotFound,
  // Of `initialize` too, by which a client of before would begin.
  `The method is unknown: this server supports the protocol version ${version}`,
  // HTTP says it too.
  { status: 404 },
);
const otherVersion = mismatch("MCP-Protocol-Version", `the version of its body: this server supports ${version}`);
const missingVersion = badMeta(`${versionMember} is missing: this server supports ${version}`);

/** A header's value, which is base64 where it is not ASCII. */
function plainOf(value: string | undefined): string | undefined {
  const encoded = value === undefined ? undefined : /^=\?base64\?([^?]*)\?=$/.exec(value)?.[1];
  if (encoded === undefined) return value;
  const bytes = decodeBase64url(encoded.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, ""));
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

/** A result, whose members are JSON already. */
export function resultText(id: Id, members: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${members}}}`;
}

export function errorText(id: Id | undefined, { code, message, data }: ProtocolError): string {
  return JSON.stringify({
    jsonrpc: "2.0",
    id: id ?? null,
    error: { code, message, ...(data === undefined ? {} : { data }) },
  });
}

export function notificationText(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}
