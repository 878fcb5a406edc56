import { EventStream } from "../events/event-stream.ts";
import type { Producer } from "../events/event-stream.ts";
import type { StreamBody } from "../events/stream.ts";
import type { Page } from "../html/page.ts";
import type { PageStream } from "../html/stream.ts";
import { chain } from "../deferred.ts";
import type { MaybePromise } from "../deferred.ts";
import { fieldsOf, lists } from "../http/fields.ts";
import { inBackground } from "../logging/raised.ts";
import { InvalidAnswerError, none } from "../refusals.ts";
import type { AnyStandard } from "../schema/standard.ts";
import { compileWriter } from "../schema/write.ts";
import type { JsonWriter } from "../schema/write.ts";
import { isServerOwned } from "../exchange/answer.ts";
import type { Answer, AnswerBody, TakeoverBody, TakeoverRequest } from "../exchange/answer.ts";
import { ResponseBody, responseBody } from "./response-body.ts";

/** A standard `Response` as an answer. A header that only the framework writes is refused in it, too. */
function fromResponse(response: Response): Answer {
  if (response.bodyUsed) throw new InvalidAnswerError("a Response whose body is read already");
  const headers: (readonly [string, string])[] = [];
  let contentType: string | undefined;
  for (const [name, value] of fieldsOf(response.headers)) {
    if (name === "content-type") contentType = value;
    else if (isServerOwned(name, response)) {
      const instead = "Answer.pass(response) sends a Response of other code";
      throw new InvalidAnswerError(`a Response with a header only the framework writes: "${name}": ${instead}`);
    } else headers.push([name, value]);
  }
  return {
    status: response.status,
    ...(contentType === undefined ? {} : { contentType }),
    headers,
    cookies: [],
    body: response.body === null ? undefined : responseBody(response, contentType),
    closes: false,
  };
}

/** What an application returned as an answer: one that it built with `Answer`, or a standard `Response`. */
export function answerFrom(returned: unknown): Answer {
  if (returned instanceof Response) return fromResponse(returned);
  if (
    typeof returned === "object" &&
    returned !== null &&
    "status" in returned &&
    Array.isArray((returned as Partial<Answer>).headers) &&
    Array.isArray((returned as Partial<Answer>).cookies)
  ) {
    return copyOf(returned as Answer);
  }
  throw new InvalidAnswerError("an answer that is neither built with Answer nor a Response");
}

// A getter of an object from JavaScript may throw, or return another value each time: each member is read once.
function copyOf(answer: Answer, body: AnswerBody = answer.body): Answer {
  const { status, contentType, headers, cookies, closes, refused, revise, passed } = answer;
  // V8 takes seven times as long for a literal that begins with a spread.
  return { status, contentType, headers, cookies, body, closes, refused, revise, passed } as Answer;
}

/** An answer with a body, and no headers or cookies. */
export function plainAnswer(status: number, contentType: string | undefined, body: AnswerBody): Answer {
  return new PlainAnswer(status, contentType, body);
}

/** The body of a page: text where all of it is ready, and a stream where it has promises or async iterables. */
export function pageBody(page: Page): string | StreamBody {
  const body = page.toBody();
  if (typeof body === "string") return body;
  return new PageBody(body);
}

class PageBody implements StreamBody {
  readonly kind = "stream";
  readonly parts: PageStream;
  readonly #stream: PageStream;

  constructor(stream: PageStream) {
    this.parts = stream;
    this.#stream = stream;
  }

  /** Whether a body is one. From JavaScript it may be anything, also a proxy that throws. */
  static is(body: unknown): body is PageBody {
    return typeof body === "object" && body !== null && #stream in body;
  }

  start(): Promise<void> {
    return this.#stream.start();
  }

  abandon(): void {
    inBackground(this.#stream.return());
  }
}

/**
 * An answer, once its body has begun: the first part of a page is made, so that what fails until then is a 500, and of a `Response` the
 * part that is there is read.
 */
export function startBody(answer: Answer): MaybePromise<Answer> {
  const { body } = answer;
  if (PageBody.is(body)) return body.start().then(() => answer);
  if (ResponseBody.is(body)) return chain(body.start(), (started) => copyOf(answer, started));
  return answer;
}

// One class: most answers have the same hidden class, and two stores fewer than an object with a spread.
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

const writers = /* @__PURE__ */ new WeakMap<AnyStandard, JsonWriter<unknown>>();

/** The writer of a shape, compiled once per shape. */
export function jsonWriterOf(shape: AnyStandard): (value: unknown) => string {
  let writer = writers.get(shape);
  if (writer === undefined) {
    writer = compileWriter(shape);
    writers.set(shape, writer);
  }
  const { write } = writer;
  return (value) => {
    const written = write(value);
    if (!written.ok) throw new InvalidAnswerError(`an answer its shape cannot write: ${written.error}`);
    return written.value;
  };
}

const defaultKeepAliveMs = 15_000;
// A cache or proxy would otherwise store the events, or delay them until it has many.
const eventHeaders = /* @__PURE__ */ Object.freeze([
  ["cache-control", "no-cache"],
  ["x-accel-buffering", "no"],
] as const);

/** The answer of an event stream (HTML, "Server-sent events"): 200; the events are made once its head is sent. */
export function eventsAnswer(
  producer: unknown,
  declared: ReadonlySet<string> | undefined,
  keepAliveMs: number = defaultKeepAliveMs,
  typeWithTextKinds?: string,
): Answer {
  if (typeof producer !== "function")
    throw new InvalidAnswerError("an event stream without a function that makes its events");
  const parts = new EventStream(producer as Producer<unknown>, declared, keepAliveMs);
  const body: StreamBody = {
    kind: "stream",
    parts,
    begin: (request) => {
      if (parts.request !== undefined) throw new InvalidAnswerError("an event stream that is sent already");
      parts.request = request;
    },
    stop: () => parts.stop(),
    stopWithServer: () => parts.stopWithServer(),
    writeTo: (sink) => parts.writeTo(sink),
    ...(typeWithTextKinds === undefined ? {} : { typeWithTextKinds }),
  };
  return { status: 200, contentType: "text/event-stream", headers: eventHeaders, cookies: none, body, closes: false };
}

// With a longer time, the timers of all runtimes fire at once.
const longestMs = 2 ** 31 - 1;

/** Throws for a time that a timer cannot wait. */
export function checkKeepAlive(keepAliveMs: number | undefined): void {
  if (keepAliveMs === undefined) return;
  if (typeof keepAliveMs === "number" && keepAliveMs > 0 && keepAliveMs <= longestMs) return;
  const given = typeof keepAliveMs === "number" ? String(keepAliveMs) : `a value of type ${typeof keepAliveMs}`;
  throw new RangeError(`keepAliveMs cannot be ${given}: it is a time in milliseconds, at most ${longestMs}`);
}

/** RFC 9110 §7.8: a name, and a version where it has one. */
const protocolForm = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:\/[!#$%&'*+\-.^_`|~0-9A-Za-z]+)?$/;

/** Throws for an invalid name of a protocol. */
export function takeoverBody(protocol: string, handle: TakeoverBody["handle"]): TakeoverBody {
  if (typeof protocol !== "string" || !protocolForm.test(protocol)) {
    const given = typeof protocol === "string" ? JSON.stringify(protocol) : `a value of type ${typeof protocol}`;
    throw new RangeError(`Answer.takeover: ${given} is no protocol's name`);
  }
  if (typeof handle !== "function") throw new TypeError("Answer.takeover: there is no function that speaks it");
  return {
    kind: "takeover",
    protocol,
    handle,
    refusedBy: (exchange) => refusedBy(exchange, `a takeover to ${JSON.stringify(protocol)}`, protocol),
  };
}

function refusedBy(exchange: TakeoverRequest, what: string, protocol: string): string | undefined {
  if (exchange.canTakeOver === undefined) {
    return `${what}, for which ${exchange.listener ?? "app.fetch"} hands over no connection: usher-http/node does`;
  }
  const isOffered = lists(exchange.lines("upgrade"), protocol) && lists(exchange.lines("connection"), "upgrade");
  if (!isOffered) return `${what}, which the client did not offer`;
  return exchange.canTakeOver ? undefined : `${what}, by a request that is no GET of HTTP/1.1 without a body`;
}
