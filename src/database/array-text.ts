/** A list as PostgreSQL writes it: `{1,NULL,"a,b"}`. */
import { Misfit } from "./type.ts";
import type { Type } from "./type.ts";

/** The text of a list. Every element is quoted, so that none is taken for NULL, for a brace or for nothing. */
export function listText<A>(values: readonly A[], type: Type<A>): string {
  return `{${values.map((value) => elementText(value, type)).join(",")}}`;
}

function elementText<A>(value: A, type: Type<A>): string {
  const text = type.print(value);
  if (text === null) return "NULL";
  return type.isArray ? text : `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** The elements of a list's text. */
export function elementsOf<A>(text: string, type: Type<A>): readonly A[] {
  // Bounds other than from 1 stand before it: [0:2]={…}.
  const scanned = new ListText(text.startsWith("[") ? text.slice(text.indexOf("=") + 1) : text);
  const elements = listAt(scanned, type);
  if (scanned.at !== scanned.text.length) throw new Misfit();
  return elements;
}

class ListText {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  takes(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }
}

function listAt<A>(scanned: ListText, type: Type<A>): readonly A[] {
  if (!scanned.takes("{")) throw new Misfit();
  const elements: A[] = [];
  if (scanned.takes("}")) return elements;
  do elements.push(elementAt(scanned, type));
  while (scanned.takes(","));
  if (!scanned.takes("}")) throw new Misfit();
  return elements;
}

function elementAt<A>(scanned: ListText, type: Type<A>): A {
  if (type.isArray) return type.parse(innerList(scanned));
  if (scanned.text[scanned.at] === '"') return type.parse(quoted(scanned));
  const start = scanned.at;
  while (scanned.at < scanned.text.length && !/[,}]/.test(scanned.text[scanned.at] as string)) scanned.at++;
  const text = scanned.text.slice(start, scanned.at);
  if (text !== "NULL") return type.parse(text);
  if (!type.isOptional) throw new Misfit();
  return undefined as A;
}

function quoted(scanned: ListText): string {
  const { text } = scanned;
  let value = "";
  for (let at = scanned.at + 1, start = at; at < text.length; at++) {
    const character = text[at];
    if (character === "\\") {
      value += text.slice(start, at);
      start = ++at;
    } else if (character === '"') {
      scanned.at = at + 1;
      return value + text.slice(start, at);
    }
  }
  throw new Misfit();
}

/** The text of a list that is an element, up to the brace that closes it. */
function innerList(scanned: ListText): string {
  const { text, at: start } = scanned;
  for (let depth = 0; scanned.at < text.length; scanned.at++) {
    const character = text[scanned.at];
    if (character === '"') {
      quoted(scanned);
      scanned.at--;
    } else if (character === "{") depth++;
    else if (character === "}" && --depth === 0) return text.slice(start, ++scanned.at);
  }
  throw new Misfit();
}
