import type { Answer } from "./answer.ts";
import { Unwritable } from "./unwritable.ts";

/** A standard `Response` as an answer. Its headers are a handler's own: the framework's are refused as anywhere. */
export function fromResponse(response: Response): Answer {
  if (response.bodyUsed) throw new Unwritable("a Response whose body is read already");
  const headers: (readonly [string, string])[] = [];
  let contentType: string | undefined;
  for (const [name, value] of response.headers) {
    if (name === "content-type") contentType = value;
    else headers.push([name, value]);
  }
  return {
    status: response.status,
    ...(contentType === undefined ? {} : { contentType }),
    headers,
    cookies: [],
    body: response.body === null ? undefined : { parts: response.body as AsyncIterable<Uint8Array> },
    closes: false,
  };
}
