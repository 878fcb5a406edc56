import { isStream } from "../exchange/answer.ts";
import type { AnswerBody } from "../exchange/answer.ts";
import { isTaken } from "../events/stream.ts";
import { letGo } from "../node-stream.ts";
import type { Inside } from "./compile.ts";

/**
 * Cancels a stream that will not be sent, unless another answer sends it. An async iterable has not begun, unless it is a stream of
 * Node's or made its first part before the head. Never throws: JavaScript may give any body, also one that throws where it is read.
 */
export function cancelBody(body: AnswerBody, inPlace?: AnswerBody): undefined {
  try {
    if (inPlace !== undefined && isStream(inPlace) && inPlace.source === body) return;
    if (!isStream(body) || isTaken(body.parts)) return;
    if (body.source !== undefined) cancelBody(body.source);
    else {
      body.abandon?.();
      letGo(body.parts);
    }
  } catch {
    // It is no stream that could be cancelled.
  }
}

/**
 * Cancels the bodies that middleware replaced. Called where no stream is sent, and otherwise once the stream has ended, as it may
 * read one of them.
 */
export function dropBodies({ inside }: { readonly inside: Inside | undefined }): void {
  for (const body of inside?.bodies.splice(0) ?? []) cancelBody(body);
}
