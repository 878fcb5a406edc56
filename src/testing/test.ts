import { make } from "../app/app.ts";
import type { App, AppOptions } from "../app/app.ts";
import { isStream } from "../answers/answer.ts";
import type { AnswerBody } from "../answers/answer.ts";
import type { Route } from "../routes/route.ts";
import { encodeBody } from "./call-body.ts";
import type { CallBody } from "./call-body.ts";
import { CallExchange } from "./call-exchange.ts";

/** An app with no socket: requests in, answers out. */
export interface TestApp {
  readonly app: App;
}

/** An answer, its body read to the end. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** The body, parsed. */
  json(): unknown;
}

/** What a call may send. */
export interface CallOptions {
  /** A list keeps a header's lines apart. */
  readonly headers?: Iterable<readonly [name: string, value: string]> | { readonly [name: string]: string };
  /** Text and bytes go as they are, `URLSearchParams` and `FormData` as forms, anything else as JSON. */
  readonly body?: CallBody;
  /** The address it comes from: `127.0.0.1` unless set. */
  readonly peer?: string;
  /** Aborted, the client has gone. */
  readonly gone?: AbortSignal;
}

/** Makes an app to be called. Throws what `App.make` throws. */
export function app(routes: readonly Route[], options?: AppOptions): TestApp {
  return { app: make(routes, options) };
}

/**
 * Calls an app as a client does, with any method and any target as they would stand on the wire.
 *
 * @throws Error where the application answers with a code or a status that nobody declared: it is a bug, which a
 * server logs and a test should fail on.
 */
export async function call(
  { app }: TestApp,
  method: string,
  target: string,
  options: CallOptions = {},
): Promise<Answered> {
  const body = await encodeBody(options.body);
  const sent = await app.answer(new CallExchange(method, target, options, body));
  if (sent.undeclared !== undefined) throw new Error(`Test.call: ${sent.undeclared}`);
  const headers = new Headers();
  for (let i = 0; i < sent.head.length; i += 2) headers.append(sent.head[i] as string, sent.head[i + 1] as string);
  const text = await textOf(sent.body);
  return { status: sent.status, headers, body: text, json: () => JSON.parse(text) as unknown };
}

async function textOf(body: AnswerBody): Promise<string> {
  if (body === undefined) return "";
  if (typeof body === "string") return body;
  const decoder = new TextDecoder();
  if (!isStream(body)) return decoder.decode(body);
  let text = "";
  for await (const part of body.parts) text += decoder.decode(part, { stream: true });
  return text + decoder.decode();
}
