import type { Answer } from "./answer.ts";
import { fromResponse } from "./from-response.ts";
import { Unwritable } from "./unwritable.ts";

/** An answer of the application's own making. */
export function builtAnswer(returned: unknown): Answer {
  if (returned instanceof Response) return fromResponse(returned);
  if (
    typeof returned === "object" &&
    returned !== null &&
    "status" in returned &&
    "headers" in returned &&
    "cookies" in returned
  ) {
    return returned as Answer;
  }
  throw new Unwritable("an answer that is neither built with Answer nor a Response");
}
