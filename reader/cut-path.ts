// In a sidebar of 300 pixels the end takes at most two thirds of the line.
const endLength = 20;

/** The start of a path, and as many of its last segments as stay whole; of a long segment, its last letters. */
export function cutPath(path: string): readonly [start: string, end: string] {
  if (path.length <= endLength) return [path, ""];
  const at = path.indexOf("/", path.length - endLength);
  // A letter of two code units stays whole.
  const isInLetter = /^[\udc00-\udfff]/.test(path.slice(-endLength));
  const from = at === -1 ? path.length - endLength + (isInLetter ? 1 : 0) : at;
  return [path.slice(0, from), path.slice(from)];
}
