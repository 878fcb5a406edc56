/** One message over HTTP: where it may come from, what answers it, and whether the answer is a stream of messages. */
import { jsonType, events, make } from "../../src/doors/answers.ts";
import type { Answer } from "../../src/doors/answers.ts";
import { abortingWith } from "../../src/app/exchange.ts";
import { InnerCalls } from "../../src/app/inner-call.ts";
import { andThen } from "../../src/doors/base.ts";
import type { AnyDep, Reading, InputRequest } from "../../src/doors/inputs.ts";
import * as Event from "../../src/events/index.ts";
import { none } from "../../src/refusals.ts";
import { mayCall } from "./authorization.ts";
import { ProtocolError, errorCodes, errorText, readMessage, resultText } from "./protocol.ts";
import type { McpMessage } from "./protocol.ts";
import { isEvents } from "./server.ts";
import type { McpServer, Notify } from "./server.ts";

/** A request, as the inputs of the route read it. */
export class ReceivedRequest {
  readonly request: InputRequest;
  readonly calls: InnerCalls;
  readonly #reading: Reading;

  constructor(request: InputRequest, reading: Reading) {
    this.request = request;
    this.calls = new InnerCalls(request);
    this.#reading = reading;
  }

  /** Whether the caller may call a route, as far as its credentials say. */
  mayCall(guards: readonly AnyDep[]): Promise<boolean> {
    return mayCall(guards, this.#reading);
  }
}

/** What the answers of one server have in common. */
export interface ServedBy {
  readonly server: McpServer;
  /** Where it is reached; undefined where it may be reached by any host. */
  readonly hosts: ReadonlySet<string> | undefined;
  /** `WWW-Authenticate` of a 401. */
  readonly challenge: string | undefined;
}

/** A message that is answered. */
type McpRequest = McpMessage & { readonly id: string | number };

/** Answers the body of a request: at once, unless a route is asked that does not answer at once. */
export function answerTo(
  served: ServedBy,
  received: ReceivedRequest,
  text: string | undefined,
): Answer | Promise<Answer> {
  const { request } = received;
  const foreign = foreignTo(served, received);
  if (foreign !== undefined) return errorAnswer(undefined, foreign);
  const message = readMessage(text, (name) => request.lines(name));
  if (message instanceof ProtocolError) return errorAnswer(message.id, message);
  if (message === "nothing") return accepted;
  return message.id === undefined ? accepted : answerRequest(served, received, message as McpRequest);
}

function answerRequest(served: ServedBy, received: ReceivedRequest, message: McpRequest): Answer | Promise<Answer> {
  const { server, challenge } = served;
  const { request } = received;
  if (server.notifies(message) && acceptsEvents(request)) return answerByStream(served, received, message);
  const outcome = server.answer({ received, message, gone: () => request.gone });
  return andThen(outcome, (outcome) => plainAnswer(message, outcome, challenge));
}

async function answerByStream(
  { server, challenge }: ServedBy,
  received: ReceivedRequest,
  message: McpRequest,
): Promise<Answer> {
  const call = abortingWith(received.request.gone);
  const begun = await server.begin({ received, message, gone: () => call.signal });
  if (!isEvents(begun)) return plainAnswer(message, begun, challenge);
  const run = async (notify: Notify): Promise<string> => textOf(message, await begun.read(notify));
  return streamed(received.request, call, { run, drop: begun.drop });
}

function refused(status: number, message: string): ProtocolError {
  return new ProtocolError(errorCodes.refused, message, { status });
}

type AnswerHeaders = readonly (readonly [name: string, value: string])[];

function plainAnswer({ id }: McpRequest, outcome: string | ProtocolError, challenge: string | undefined): Answer {
  if (outcome instanceof ProtocolError) return errorAnswer(id, outcome, challenge);
  return {
    status: 200,
    contentType: jsonType,
    headers: none,
    cookies: none,
    body: resultText(id, outcome),
    closes: false,
  };
}

const wrongHost = refused(403, "The host is not allowed: see the option hosts.");
const wrongOrigin = refused(403, "The origin is not allowed.");

function foreignTo({ hosts }: ServedBy, received: ReceivedRequest): ProtocolError | undefined {
  const foreign = rebinding(received, hosts);
  if (foreign === undefined) return undefined;
  return foreign === "host" ? wrongHost : wrongOrigin;
}

/** The answer to what needs none. */
const accepted: Answer = { status: 202, headers: none, cookies: none, body: undefined, closes: false };

function errorAnswer(id: McpMessage["id"], error: ProtocolError, challenge?: string): Answer {
  const { status } = error;
  const headers = status === 401 && challenge !== undefined ? [["www-authenticate", challenge] as const] : none;
  return make(errorText(id, error), { status, contentType: "application/json", headers });
}

function textOf({ id }: McpMessage, outcome: string | ProtocolError): string {
  return typeof outcome === "string" ? resultText(id as string | number, outcome) : errorText(id, outcome);
}

function acceptsEvents(request: InputRequest): boolean {
  return request.lines("accept").some((line) => /text\/event-stream|\*\/\*/i.test(line));
}

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
const loopbackAddress = /^(?:127\.|::1$|::ffff:127\.)/;

/**
 * Why a request may come by DNS rebinding; undefined where it does not. A page's request has an `Origin`, which must be of this
 * machine, of the hosts, or named by the app. A request from this machine must name this machine, or one of the hosts. Where
 * hosts are given, every request must name one of them, or this machine.
 */
function rebinding({ request, calls }: ReceivedRequest, hosts: ReadonlySet<string> | undefined): string | undefined {
  const isOwn = (host: string): boolean => loopback.test(host) || hosts?.has(host) === true;
  for (const origin of request.lines("origin")) {
    if (!calls.trustsOrigin(origin) && !isOwn(nameOf(hostOfOrigin(origin)))) return "origin";
  }
  const host = nameOf(request.host ?? "");
  const mustBeOwn = hosts !== undefined || loopbackAddress.test(request.client);
  return mustBeOwn && !isOwn(host) ? "host" : undefined;
}

function hostOfOrigin(origin: string): string {
  const at = origin.indexOf("://");
  return at === -1 ? "" : origin.slice(at + 3).toLowerCase();
}

/** A host without its port. */
function nameOf(host: string): string {
  return host.replace(/:\d*$/, "");
}

const MessageEvent = Event.text("message");

// A proxy that waits for more would hold the progress back.
const unbuffered: AnswerHeaders = [["x-accel-buffering", "no"]];

/** A call whose events are to be read. */
interface StreamedCall {
  /** Resolves with the last message. */
  readonly run: (notify: Notify) => Promise<string>;
  /** Called in place of `run` where the stream is not sent. */
  readonly drop: () => void;
}

/** A stream of the messages of a call. A client that leaves it cancels the call. */
function streamed(request: InputRequest, call: AbortController, { run, drop }: StreamedCall): Answer {
  let isSent = false;
  // The client may have gone before, and middleware may answer.
  request.hold({ release: () => isSent || drop() });
  return events(
    async (send) => {
      isSent = true;
      const write = async (text: string): Promise<void> => {
        const sent = await send(Event.make(MessageEvent, text));
        if (!sent.ok) call.abort();
      };
      // A call that is cancelled does not wait for a client that reads nothing.
      let goOn = (): void => {};
      call.signal.addEventListener("abort", () => goOn());
      const notify = (text: string): Promise<void> =>
        new Promise((resolve, reject) => {
          goOn = resolve;
          write(text).then(resolve, reject);
          if (call.signal.aborted) resolve();
        });
      await write(await run(notify));
    },
    { headers: unbuffered },
  );
}
