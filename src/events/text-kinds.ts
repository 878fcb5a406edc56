/**
 * A typed client has no code of the routes, so it cannot tell the text `1` from the number. It sends this in `Accept`, and
 * the response's `Content-Type` then lists the event kinds that are plain text.
 */
export const askingForTextKinds = "text/event-stream;text-kinds=1";

/** The `Content-Type` of a stream with these kinds of plain text. */
export function typeWithTextKinds(names: readonly string[]): string {
  return `text/event-stream;text-kinds="${names.map(encodeURIComponent).join()}"`;
}
