/**
 * Which kinds of an event stream are plain text: a client that has only the types of its routes could not tell the text
 * `1` from the number. It asks with this among what it accepts, and the answer's type then names them; nobody else sees it.
 */
export const askingForTextKinds = "text/event-stream;text-kinds=1";

/** The type of a stream whose kinds of plain text are these. */
export function typeWithTextKinds(names: readonly string[]): string {
  return `text/event-stream;text-kinds="${names.map(encodeURIComponent).join()}"`;
}
