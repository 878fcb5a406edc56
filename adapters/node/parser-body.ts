import type { IncomingMessage } from "node:http";
import { caught } from "../../src/logging/raised.ts";
import { connectionOf } from "./connection.ts";
import type { Taking } from "./connection.ts";
import { isKnownNode, nodeMajor } from "./listen.ts";

const dumped = "_dumped";

/** What Node keeps of a request as a stream, in the versions this is for. */
interface ParserMessage {
  readonly _readableState: {
    ended: boolean;
    endEmitted: boolean;
    destroyed: boolean;
    closed: boolean;
    closeEmitted: boolean;
  };
  [dumped]: boolean;
}

/** A request as its connection's parser knows it: what it pushes its body to. */
interface Pushed {
  push(part: Buffer | null): boolean;
}

/**
 * Spares a request without a body the life of a stream, of which nobody hears: it costs 0.5 µs. Node does it of itself
 * where it knows `optimizeEmptyRequests` (24.12), and this is what it does, for versions that change no more.
 */
export function skipEmptyBody(request: IncomingMessage): void {
  if (isKnownNode && nodeMajor < 24) endStream(request);
}

/**
 * Spares a request the life of a stream, too, whose body is had as the parser hands it over: of its events the last comes
 * five turns later, which costs a request 0.8 µs. False where it has begun to come to the stream.
 */
export function readFromParser(request: IncomingMessage, taking: Taking): boolean {
  const hasBegun = request.complete || request.readableLength > 0 || request.readableFlowing !== null;
  if (!isKnownNode || hasBegun) return false;
  connectionOf(request.socket).taking = taking;
  (request as Pushed).push = handOver;
  return true;
}

/** What comes from now on of a body that is taken so is its stream's. */
export function leaveToStream(request: IncomingMessage, taking: Taking): void {
  const connection = connectionOf(request.socket);
  if (connection.taking !== taking) return;
  connection.taking = undefined;
  Reflect.deleteProperty(request, "push");
}

// One for all requests: there is one at a time whose body comes on a connection.
function handOver(this: IncomingMessage, part: Buffer | null): boolean {
  const connection = connectionOf(this.socket);
  const taking = connection.taking as Taking;
  try {
    if (part !== null) {
      taking.take(part);
      return true;
    }
    connection.taking = undefined;
    endStream(this);
    taking.end();
  } catch (thrown) {
    caught(thrown, this.socket);
  }
  return false;
}

function endStream(request: IncomingMessage): void {
  const kept = request as unknown as ParserMessage;
  const { _readableState: state } = kept;
  state.ended = true;
  state.endEmitted = true;
  state.destroyed = true;
  state.closed = true;
  state.closeEmitted = true;
  // Otherwise Node would have it flow to nobody, for what may be left of it on the wire.
  kept[dumped] = true;
}
