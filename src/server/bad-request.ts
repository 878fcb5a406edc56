import { logRefusedHead } from "../app/failures.ts";
import { isHost, isHostAndPort } from "../http/target.ts";

/** What a runtime hands over as a request, and is none. */
export interface RefusedHead {
  readonly status: number;
  /** For the log. */
  readonly why: string;
}

const tooLong: RefusedHead = { status: 431, why: "a head past its limit" };
const targetTooLong: RefusedHead = { status: 414, why: "a target past the limit of a head" };
const noTarget: RefusedHead = { status: 400, why: "a target that is none" };

/** What is wrong with a host, for a runtime that does not look at it. Nearly every request has the same as the last. */
export class HostCheck {
  #last = "";

  isHost(text: string): boolean {
    if (text === this.#last) return true;
    if (!isHost(text)) return false;
    this.#last = text;
    return true;
  }
}

/** A `CONNECT` is for a host and its port, and for nothing else. */
export function refusedConnect(authority: string): RefusedHead | undefined {
  return isHostAndPort(authority) ? undefined : noTarget;
}

/** Whether a target alone is longer than a head may be. */
export function refusedTarget({ url }: Request, maxHeaderBytes: number): RefusedHead | undefined {
  return url.length > maxHeaderBytes ? targetTooLong : undefined;
}

/**
 * Whether a head is longer than it may be, in the bytes it has to have: how many it had a runtime tells nobody. They are
 * counted where an application asked for a limit of its own, for it takes every header to be read.
 */
export function refusedLength({ method, url, headers }: Request, maxHeaderBytes: number): RefusedHead | undefined {
  let bytes = method.length + url.length;
  for (const [name, value] of headers) bytes += name.length + value.length + 4;
  return bytes > maxHeaderBytes ? tooLong : undefined;
}

/** Answers it, bare, and logs that it did. */
export function refuse({ status, why }: RefusedHead): Response {
  logRefusedHead(status, why);
  return new Response(null, { status, headers: { connection: "close" } });
}
