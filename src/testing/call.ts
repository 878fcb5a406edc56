import { make } from "../app/app.ts";
import type { AppOptions } from "../app/app.ts";
import type { Route } from "../routes/route.ts";
import { answeredBy, failOnUndeclared } from "./answered.ts";
import type { Answered, TestApp } from "./answered.ts";
import { encodeBody } from "./call-body.ts";
import { CallExchange } from "./call-exchange.ts";
import type { CallOptions } from "./call-options.ts";

/** Makes an app to be called. Throws what `App.make` throws. */
export function app(routes: readonly Route[], options?: AppOptions): TestApp {
  return { app: make(routes, options), now: options?.now };
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
  const exchange = new CallExchange(method, target, options, body);
  const sent = await app.answer(exchange);
  failOnUndeclared(sent.undeclared);
  const answered = await answeredBy(sent);
  failOnUndeclared(exchange.undeclaredDeed);
  return answered;
}
