import { counted } from "../counted.ts";
import type { Following } from "../following.ts";

/** Thrown when a response body is longer than `maxBody`. */
export class TooLarge extends Error {
  override readonly name = "TooLarge";

  constructor(maxBody: number) {
    super(`the answer's body is longer than ${counted(maxBody, "byte")}`);
  }
}

/**
 * The response with a body that fails past `maxBody` bytes, and once its call is over, which it then releases. The platforms abort a body by the signal
 * of its request, but forget that signal where the request was collected as garbage meanwhile: Node that of a `Request` it was
 * given, Deno any.
 */
export function bodyUntil(response: Response, ending: Following, maxBody: number = Number.POSITIVE_INFINITY): Response {
  const { body, status, statusText, headers, url, redirected } = response;
  const { signal, release } = ending;
  if (!body) {
    release();
    return response;
  }
  let left = maxBody;
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  const cancel = (reason: unknown): void => {
    release();
    reader.cancel(reason).catch(() => {});
  };
  const bounded = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const abort = (): void => {
          controller.error(signal.reason);
          cancel(signal.reason);
        };
        signal.addEventListener("abort", abort);
        if (signal.aborted) abort();
      },
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (signal.aborted) return;
          if (done) {
            release();
            controller.close();
          } else {
            left -= value.byteLength;
            if (left < 0) throw new TooLarge(maxBody);
            controller.enqueue(value);
          }
        } catch (thrown) {
          cancel(thrown);
          throw thrown;
        }
      },
      cancel,
    },
    { highWaterMark: 0 },
  );
  // A constructed `Response` has neither of the two, and does not take each reason phrase that a server may send.
  const own = { url: { value: url }, redirected: { value: redirected }, statusText: { value: statusText } };
  return Object.defineProperties(new Response(bounded, { status, headers }), own);
}
