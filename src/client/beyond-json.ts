/** What a call sends and gets that is no JSON. A bundler makes a chunk of this: what every call runs is handed to it. */
import { isEventStream, received, typeOf } from "./received.ts";
import type { Ask, outcomeOf } from "./outcome.ts";

/** A request with a form: in parts where a file is in it, and otherwise as a form without an `enctype` is sent. */
export function formed(request: Request, fields: [name: string, value: string | Blob][]): Request {
  if (!fields.some(([, value]) => value instanceof Blob))
    return new Request(request, { body: new URLSearchParams(fields as [string, string][]) });
  const body = new FormData();
  for (const [name, value] of fields) body.append(name, value);
  return new Request(request, { body });
}

/** What a body is by its type. */
export async function valueOf(
  response: Response,
  request: Request,
  ask: Ask,
  outcome: typeof outcomeOf,
): Promise<unknown> {
  if (isEventStream(response)) return received(response, request, ask, outcome);
  return /^text\//i.test(typeOf(response)) ? response.text() : response;
}
