import { needsObject, needsOptions, needsText } from "../arguments.ts";
import type { Answer, SocketBody } from "../exchange/answer.ts";
import { itemsOf, lists } from "../http/fields.ts";
import type { InputRequest } from "../inputs/request.ts";
import { InvalidAnswerError, Problem, Refusal, invalidRefusal, none, upgradeRequired } from "../refusals.ts";
import { serveSocket } from "./open-socket.ts";
import type {
  AnyProtocol,
  Message,
  Protocol,
  ProtocolNode,
  SocketAnswers,
  SocketHandler,
  SocketOptions,
  SocketWire,
} from "./socket.ts";

/** RFC 6455 §4.1: a token. */
const subprotocolForm = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/**
 * Declares a protocol.
 *
 * @param options `subprotocol` is a name that the client must offer in `Sec-WebSocket-Protocol` (RFC 6455 §1.9), or a list in the
 *   order of the server's preference: the first that the client offers is chosen, and is the socket's `subprotocol`. With
 *   `undefined` in the list, a client that offers none of them gets a socket without one.
 * @throws Error for a name that is no token, or that is listed twice.
 *
 * @example
 * ```ts
 * const chat = Socket.protocol({ client: Socket.text, server: Socket.text, subprotocol: ["chat.v2", "chat.v1"] });
 * ```
 */
export function protocol<
  Client,
  Server,
  ClientGiven = Client,
  ServerGot = Server,
  const Subprotocol extends string | undefined = undefined,
  ClientWire = unknown,
  ServerWire = unknown,
>(options: {
  readonly client: Message<Client, ClientGiven, unknown, ClientWire>;
  readonly server: Message<unknown, Server, ServerGot, ServerWire>;
  readonly subprotocol?: Subprotocol | readonly Subprotocol[];
}): Protocol<Client, Server, ClientGiven, ServerGot, Subprotocol, SocketWire<ClientWire, ServerWire, Subprotocol>> {
  // The last three are members of a protocol that is copied: `{ ...chat, subprotocol: "chat.v2" }`.
  needsOptions("Socket.protocol", options, "client server subprotocol subprotocols needsSubprotocol node");
  const { client, server, subprotocol } = options;
  needsObject("Socket.protocol: client", client);
  needsObject("Socket.protocol: server", server);
  const listed: readonly (string | undefined)[] = Array.isArray(subprotocol) ? subprotocol : [subprotocol];
  if (listed.length === 0) throw new Error("Socket.protocol: subprotocol is an empty list");
  const subprotocols = listed.filter((name) => name !== undefined);
  for (const [i, name] of subprotocols.entries()) {
    needsText("Socket.protocol: subprotocol", name);
    if (!subprotocolForm.test(name)) {
      throw new Error(`Socket.protocol: ${JSON.stringify(name)} is not a valid subprotocol name`);
    }
    if (subprotocols.indexOf(name) < i) throw new Error(`Socket.protocol: subprotocol lists ${name} twice`);
  }
  const needsSubprotocol = !listed.includes(undefined);
  const node: ProtocolNode = {
    opens: (request, canUpgrade) => handshakeRefusal(request, canUpgrade, subprotocols, needsSubprotocol),
    compile: (options) => socketAnswers({ client, server, subprotocols }, options),
  };
  return { client, server, subprotocols, needsSubprotocol, node };
}

const notOpened = "This address opens a WebSocket, and nothing else.";
const otherVersion = "This server speaks version 13 of WebSockets.";

/**
 * Checks the handshake (RFC 6455 §4.2.1). The refusal is a 426 if the request asks for no WebSocket or another version,
 * otherwise a 400 with every problem.
 *
 * @param canUpgrade False for HTTP/1.0, which has no upgrade.
 */
function handshakeRefusal(
  request: InputRequest,
  canUpgrade: boolean,
  subprotocols: readonly string[],
  needsSubprotocol: boolean,
): Refusal | undefined {
  if (!canUpgrade || !lists(request.lines("upgrade"), "websocket")) return upgradeRefusal(notOpened, []);
  const versions = request.lines("sec-websocket-version");
  if (versions.length !== 1 || versions[0] !== "13") {
    return upgradeRefusal(otherVersion, [["sec-websocket-version", "13"]]);
  }
  const problems: Problem[] = [];
  if (!lists(request.lines("connection"), "upgrade")) {
    problems.push(new Problem("header.connection", "required", "A WebSocket is opened with Connection: upgrade."));
  }
  const keys = request.lines("sec-websocket-key");
  // The base64 of 16 bytes; the last character holds 2 bits.
  if (keys.length !== 1 || !/^[A-Za-z0-9+/]{21}[AQgw]==$/.test(keys[0] ?? "")) {
    problems.push(new Problem("header.sec-websocket-key", "malformed", "This is not a WebSocket key."));
  }
  if (needsSubprotocol && chosenSubprotocol(request, subprotocols) === undefined) {
    const which = subprotocols.length === 1 ? "which was not offered" : "none of which was offered";
    const message = `This socket speaks ${subprotocols.join(", ")}, ${which}.`;
    problems.push(new Problem("header.sec-websocket-protocol", "required", message));
  }
  return problems.length === 0 ? undefined : invalidRefusal(problems);
}

function upgradeRefusal(message: string, headers: Refusal["headers"]): Refusal {
  return new Refusal(upgradeRequired, message, { headers: [["upgrade", "websocket"], ...headers] });
}

/** The first of the server's subprotocols that the client offers (RFC 6455 §4.2.2); undefined where it offers none of them. */
function chosenSubprotocol(request: Pick<InputRequest, "lines">, subprotocols: readonly string[]): string | undefined {
  if (subprotocols.length === 0) return undefined;
  // Names are case-sensitive.
  const offered = new Set(itemsOf(request.lines("sec-websocket-protocol")));
  return subprotocols.find((name) => offered.has(name));
}

/** Bytes. */
const defaultMaxMessage = 1_048_576;
/** Bytes. */
const defaultMaxUnheard = 16_777_216;

/** How messages are compressed; undefined leaves them as they are. Invalid ones throw. */
function compressionOf(given: SocketOptions["compression"]): SocketBody["compression"] {
  if (given === undefined || given === false) return undefined;
  if (given === true) return { minBytes: defaultMinBytes };
  needsObject("Returns.websocket: compression", given);
  const { minBytes = defaultMinBytes } = given;
  if (Number.isSafeInteger(minBytes) && minBytes >= 0) return { minBytes };
  throw new RangeError(`minBytes cannot be ${String(minBytes)}: it is a number of bytes`);
}

const defaultMinBytes = 1024;

/** The answers of a route that speaks a protocol. */
function socketAnswers(
  { client, server, subprotocols }: Pick<AnyProtocol, "client" | "server" | "subprotocols">,
  options: SocketOptions,
): SocketAnswers {
  const { keepAliveMs = 15_000, maxMessage = defaultMaxMessage, maxUnheard = defaultMaxUnheard } = options;
  for (const [name, bytes] of Object.entries({ maxMessage, maxUnheard })) {
    if (Number.isSafeInteger(bytes) && bytes > 0) continue;
    throw new RangeError(`${name} cannot be ${bytes}: it is a number of bytes`);
  }
  const compression = compressionOf(options.compression);
  const write = (handler: unknown): Answer => {
    if (typeof handler !== "function") throw new InvalidAnswerError("a WebSocket without a function that speaks on it");
    const body: SocketBody = {
      kind: "socket",
      subprotocolOf: (request) => chosenSubprotocol(request, subprotocols),
      maxMessage,
      keepAliveMs,
      maxUnheard,
      compression,
      runHandler: (link, request, subprotocol) => {
        const setting = { client, server, keepAliveMs, maxMessage, subprotocol };
        return serveSocket(link, handler as SocketHandler<unknown, unknown>, setting, request);
      },
    };
    return { status: 101, headers: none, cookies: none, body, closes: false };
  };
  return { maxMessage, write };
}
