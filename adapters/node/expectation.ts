import type { IncomingMessage, ServerResponse } from "node:http";
import { lists } from "../../src/codecs/tokens.ts";
import { linesOf } from "./exchange.ts";
import { readHead } from "./head.ts";

/** What Node keeps with a response to a request in whose `Expect` it found `100-continue`. */
interface Kept {
  readonly _expect_continue?: boolean;
  readonly _sent100?: boolean;
}

/**
 * Whether a client waits for `100 Continue` before it sends its body. Node finds the word anywhere in the field, and closes
 * the connection of a client that it has not said it to; `Expect` is a list, of which other members ask for nothing that
 * a server has to know (RFC 9110 §10.1.1).
 */
export function awaitsContinue(request: IncomingMessage, response: ServerResponse): boolean {
  const { _sent100 } = response as Kept;
  if (_sent100 === true) return false;
  if (readHead(request) !== 0 && lists(linesOf(request, "expect"), "100-continue")) return true;
  // There is nothing to go on with, and the connection is kept.
  Object.assign(response, { _expect_continue: false } satisfies Kept);
  return false;
}

/** Whether Node left it to the application to say `100 Continue`: a server that listens for `checkContinue`. */
export function isLeftToUs(response: ServerResponse): boolean {
  const { _expect_continue } = response as Kept;
  return _expect_continue === true;
}
