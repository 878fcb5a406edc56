/** A body is longer than the client reads. */
export class TooLarge extends Error {
  override readonly name = "TooLarge";

  constructor(maxBody: number) {
    super(`the answer's body is longer than ${maxBody} bytes`);
  }
}

/** The same answer, of whose body so many bytes can be read and no more. */
export function bounded(response: Response, maxBody: number): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  let left = maxBody;
  const counted = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(part, controller) {
        left -= part.byteLength;
        if (left < 0) throw new TooLarge(maxBody);
        controller.enqueue(part);
      },
    }),
  );
  const made = new Response(counted, { status, statusText, headers });
  // What a `Response` that is made says of neither.
  const { url, redirected } = response;
  return Object.defineProperties(made, { url: { value: url }, redirected: { value: redirected } });
}
