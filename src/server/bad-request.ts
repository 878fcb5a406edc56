import { logRefusedHead } from "../app/failures.ts";
import { isHost, isHostAndPort } from "../http/target.ts";

/** A request that a runtime accepted, and that must be refused. */
export interface RefusedHead {
  readonly status: number;
  /** For the log. */
  readonly why: string;
}

export const headTooLong: RefusedHead = { status: 431, why: "a head past its limit" };
export const targetTooLong: RefusedHead = { status: 414, why: "a target past the limit of a head" };
export const badTarget: RefusedHead = { status: 400, why: "a target that is none" };
export const badHost: RefusedHead = { status: 400, why: "a Host that is none" };

/** Checks hosts, for a runtime that does not. Nearly every request has the same host as the last one. */
export class HostCheck {
  /** The last one that is valid. */
  last = "";

  isHost(text: string): boolean {
    if (text === this.last) return true;
    if (!isHost(text)) return false;
    this.last = text;
    return true;
  }
}

/** A `CONNECT` must be for a host and its port. */
export function refusedConnect(authority: string): RefusedHead | undefined {
  return isHostAndPort(authority) ? undefined : badTarget;
}

/** Refuses a target that alone is longer than a head may be. */
export function refusedTarget({ url }: Request, maxHeaderBytes: number): RefusedHead | undefined {
  return url.length > maxHeaderBytes ? targetTooLong : undefined;
}

/**
 * Refuses a head over the limit. No runtime gives its size, so this counts the bytes that it must have had. It reads every
 * header, and is therefore called only where the application sets a limit.
 */
export function refusedLength({ method, url, headers }: Request, maxHeaderBytes: number): RefusedHead | undefined {
  let bytes = method.length + url.length;
  for (const [name, value] of headers) bytes += name.length + value.length + 4;
  return bytes > maxHeaderBytes ? headTooLong : undefined;
}

/** Answers without a body, and logs it. */
export function refuse({ status, why }: RefusedHead): Response {
  logRefusedHead(status, why);
  return new Response(null, { status, headers: { connection: "close" } });
}
