import type { Values } from "./link.ts";

/**
 * Whether a sentence of the server's may hold a value: it holds one whole, as a word where it is short, or what it
 * quotes is a piece of one, as of a list, a path or a search whose one part it does not like.
 */
export function quotes(sentence: string, values: Values): boolean {
  const quoted = [...sentence.matchAll(/"([^"]*)"|'([^']*)'|«([^»]*)»/g)].map(([, a, b, c]) => a ?? b ?? c ?? "");
  const pieces = quoted.filter((piece) => piece.length >= 3);
  return values.some(
    (value) =>
      value !== null && value !== "" && (holds(sentence, value) || pieces.some((piece) => value.includes(piece))),
  );
}

function holds(sentence: string, value: string): boolean {
  if (value.length >= 3) return sentence.includes(value);
  for (let at = sentence.indexOf(value); at !== -1; at = sentence.indexOf(value, at + 1))
    if (!isWord(sentence[at - 1]) && !isWord(sentence[at + value.length])) return true;
  return false;
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_]/u.test(character);
}
