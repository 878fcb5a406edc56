import { ProtocolError, errorCodes } from "./protocol.ts";
import type { McpMessage } from "./protocol.ts";

/** How long a client may keep a list: it changes with a new version of the program alone. */
const keptMs = 60_000;

/** An item of a list, as JSON. */
interface ListItem {
  readonly listed: string;
}

/** A list that is read in pages. */
export class List<A extends ListItem> {
  readonly #member: string;
  readonly #items: readonly A[];
  readonly #pageSize: number;
  readonly #isOpen: boolean;

  /** @param isOpen Whether every caller may read it, and so a cache may give it to anyone. */
  constructor(member: string, items: readonly A[], pageSize: number, isOpen: boolean) {
    this.#member = member;
    this.#items = items;
    this.#pageSize = pageSize;
    this.#isOpen = isOpen;
  }

  /**
   * The page that a message asks for; an error where no page of the list has this cursor.
   *
   * @param shown The items that this caller may see: all unless given.
   */
  page({ params }: McpMessage, shown?: ReadonlySet<A>): string | ProtocolError {
    const { cursor } = params;
    const from = cursor === undefined ? 0 : positionOf(cursor, this.#items.length);
    if (from === undefined) {
      return new ProtocolError(errorCodes.invalidParams, "The cursor does not belong to this list.");
    }
    const page: string[] = [];
    let at = from;
    for (; at < this.#items.length && page.length < this.#pageSize; at++) {
      const item = this.#items[at] as A;
      if (shown?.has(item) !== false) page.push(item.listed);
    }
    const next = at < this.#items.length ? `,"nextCursor":"${at}"` : "";
    const scope = this.#isOpen && shown === undefined ? "public" : "private";
    return `"${this.#member}":[${page.join(",")}]${next},"ttlMs":${keptMs},"cacheScope":"${scope}"`;
  }
}

function positionOf(cursor: unknown, length: number): number | undefined {
  if (typeof cursor !== "string" || !/^[1-9]\d{0,8}$/.test(cursor)) return undefined;
  return Number(cursor) < length ? Number(cursor) : undefined;
}
