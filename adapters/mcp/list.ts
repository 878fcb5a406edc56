import { ProtocolError, errorCodes } from "./protocol.ts";
import type { McpMessage } from "./protocol.ts";

/** How long a client may keep a list: it changes with a new version of the program alone. */
const keptMs = 60_000;

/** A list that is read in pages. Its items are JSON already. */
export class List {
  readonly #member: string;
  readonly #items: readonly string[];
  readonly #pageSize: number;

  constructor(member: string, items: readonly string[], pageSize: number) {
    this.#member = member;
    this.#items = items;
    this.#pageSize = pageSize;
  }

  /** The page that a message asks for; an error where no page of the list has this cursor. */
  page(
    { params, isModern }: McpMessage,
    shows: (index: number) => boolean = always,
    isPrivate = false,
  ): string | ProtocolError {
    const { cursor } = params;
    const from = cursor === undefined ? 0 : positionOf(cursor, this.#items.length);
    if (from === undefined)
      return new ProtocolError(errorCodes.invalidParams, "The cursor does not belong to this list.");
    const page: string[] = [];
    let at = from;
    for (; at < this.#items.length && page.length < this.#pageSize; at++) {
      if (shows(at)) page.push(this.#items[at] as string);
    }
    const next = at < this.#items.length ? `,"nextCursor":"${at}"` : "";
    const caching = isModern ? `,"ttlMs":${keptMs},"cacheScope":"${isPrivate ? "private" : "public"}"` : "";
    return `"${this.#member}":[${page.join(",")}]${next}${caching}`;
  }
}

function always(): boolean {
  return true;
}

function positionOf(cursor: unknown, length: number): number | undefined {
  if (typeof cursor !== "string" || !/^[1-9]\d{0,8}$/.test(cursor)) return undefined;
  return Number(cursor) < length ? Number(cursor) : undefined;
}
