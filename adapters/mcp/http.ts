/** One message over HTTP: where it may come from, what answers it, and whether the answer is a stream of messages. */
import { none } from "../../src/answers/answer.ts";
import { events, make } from "../../src/answers/build.ts";
import type { Answer } from "../../src/answers/build.ts";
import { abortingWith } from "../../src/app/request.ts";
import type { RequestState } from "../../src/app/request.ts";
import type { AnyDep } from "../../src/inputs/dep.ts";
import * as Event from "../../src/events/index.ts";
import { ProtocolError, errorCodes, errorText, readMessage, resultText } from "./protocol.ts";
import type { McpMessage } from "./protocol.ts";
import type { McpServer, Notify } from "./server.ts";

/** A request, as the inputs of the route read it. */
export interface ReceivedRequest {
  readonly request: RequestState;
  readonly mayCall: (guards: readonly AnyDep[]) => Promise<boolean>;
}

/** What the answers of one server have in common. */
export interface ServedBy {
  readonly server: McpServer;
  /** Where it is reached; undefined where it may be reached by any host. */
  readonly hosts: ReadonlySet<string> | undefined;
  /** `WWW-Authenticate` of a 401. */
  readonly challenge: string | undefined;
}

/** Answers the body of a request. */
export async function answerTo(
  { server, hosts, challenge }: ServedBy,
  { request, mayCall }: ReceivedRequest,
  text: string | undefined,
): Promise<Answer> {
  const foreign = rebinding(request, hosts);
  if (foreign !== undefined) return errorAnswer(undefined, foreign === "host" ? wrongHost : wrongOrigin);
  const lines = (name: string): readonly string[] => request.lines(name);
  const message = readMessage(text, lines);
  if (message instanceof ProtocolError) return errorAnswer(message.id, message);
  if (message === "nothing" || message.id === undefined) return accepted;
  const { gone } = request;
  if (server.notifies(message) && acceptsEvents(request)) {
    return streamed(gone, async (notify, gone) =>
      textOf(message, await server.answer({ request, message, gone, notify, mayCall })),
    );
  }
  const outcome = await server.answer({ request, message, gone, notify: undefined, mayCall });
  if (outcome instanceof ProtocolError) return errorAnswer(message.id, outcome, challenge);
  return make(resultText(message.id, outcome), { contentType: "application/json" });
}

const wrongHost = new ProtocolError(errorCodes.refused, "The host is not allowed: see the option hosts.", {
  status: 403,
});
const wrongOrigin = new ProtocolError(errorCodes.refused, "The origin is not allowed.", { status: 403 });

/** The answer to what needs none. */
const accepted: Answer = { status: 202, headers: none, cookies: none, body: undefined, closes: false };

function errorAnswer(id: McpMessage["id"], error: ProtocolError, challenge?: string): Answer {
  const { status } = error;
  const headers = status === 401 && challenge !== undefined ? [["www-authenticate", challenge] as const] : [];
  return make(errorText(id, error), { status, contentType: "application/json", headers });
}

function textOf({ id }: McpMessage, outcome: string | ProtocolError): string {
  return typeof outcome === "string" ? resultText(id as string | number, outcome) : errorText(id, outcome);
}

function acceptsEvents(request: RequestState): boolean {
  return request.lines("accept").some((line) => /text\/event-stream|\*\/\*/i.test(line));
}

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
const loopbackAddress = /^(?:127\.|::1$|::ffff:127\.)/;

/**
 * Why a request may come by DNS rebinding; undefined where it does not. A page's request has an `Origin`, which must be of this
 * machine, of the hosts, or trusted by the app. A request from this machine must name this machine, or one of the hosts. Where
 * hosts are given, every request must name one of them, or this machine.
 */
function rebinding(request: RequestState, hosts: ReadonlySet<string> | undefined): string | undefined {
  const isOwn = (host: string): boolean => loopback.test(host) || hosts?.has(host) === true;
  for (const origin of request.lines("origin")) {
    if (request.app.trustedOrigins?.has(origin) === true) continue;
    if (!isOwn(nameOf(hostOfOrigin(origin)))) return "origin";
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

/** A stream whose last message is what `work` resolves with. A client that leaves it cancels the work. */
function streamed(gone: AbortSignal, work: (notify: Notify, gone: AbortSignal) => Promise<string>): Answer {
  const going = abortingWith(gone);
  return events(
    async (send) => {
      const write = async (text: string): Promise<void> => {
        const sent = await send(Event.make(MessageEvent, text));
        if (!sent.ok) going.abort();
      };
      await write(await work(write, going.signal));
    },
    // A proxy that waits for more would hold the progress back.
    { headers: [["x-accel-buffering", "no"]] },
  );
}
