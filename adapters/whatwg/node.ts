import type { IncomingMessage, ServerResponse } from "node:http";

/** What the adapter hands over beside a request: Node's own objects, or those of a server around them. */
export interface WhatwgContext {
  readonly req?: unknown;
  readonly res?: unknown;
  readonly reply?: unknown;
  readonly waitUntil?: (work: Promise<void>) => void;
}

/** Node's own objects of a request, and what the adapter lets go on after it. */
export interface Node {
  /** `originalUrl` is what Express had before it took off where the app is mounted. */
  readonly req: IncomingMessage & { readonly originalUrl?: string };
  readonly res: ServerResponse;
  readonly waitUntil: ((work: Promise<void>) => void) | undefined;
}

/** Node's objects among those given, also where a server has wrapped them; undefined on another runtime. */
export function nodeOf({ req, res, reply, waitUntil }: WhatwgContext): Node | undefined {
  const [incoming, response] = [rawOf(req), rawOf(res ?? reply)];
  if (!has(incoming, "rawHeaders") || !has(response, "flushHeaders")) return undefined;
  return { req: incoming as Node["req"], res: response as ServerResponse, waitUntil };
}

function rawOf(given: unknown): unknown {
  return has(given, "raw") ? (given as { readonly raw: unknown }).raw : given;
}

function has(value: unknown, name: string): boolean {
  return typeof value === "object" && value !== null && name in value;
}
