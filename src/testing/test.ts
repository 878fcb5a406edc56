import { make } from "../app/app.ts";
import type { App, AppOptions } from "../app/app.ts";
import { isStream } from "../answers/answer.ts";
import type { AnswerBody } from "../answers/answer.ts";
import type { Route } from "../routes/route.ts";
import { encodeBody } from "./call-body.ts";
import { CallExchange } from "./call-exchange.ts";
import type { CallOptions } from "./call-options.ts";

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

export type { CallOptions } from "./call-options.ts";
