import { none } from "./answer.ts";
import type { Answer, AnswerBody } from "./answer.ts";

/** An answer with nothing beside its body. */
export function plain(status: number, contentType: string | undefined, body: AnswerBody): Answer {
  return new PlainAnswer(status, contentType, body);
}

// One class, so that every ordinary answer has one hidden class and two stores less than an object with a spread.
class PlainAnswer implements Answer {
  readonly status: number;
  readonly contentType: string;
  readonly headers: readonly never[] = none;
  readonly cookies: readonly never[] = none;
  readonly body: AnswerBody;
  readonly closes = false;

  constructor(status: number, contentType: string | undefined, body: AnswerBody) {
    this.status = status;
    this.contentType = contentType as string;
    this.body = body;
  }
}
