/**
 * Gates that a case opens for a handler that waits, and records of a handler for a case. By polling: on a runtime where one
 * request may not wake another (Workers), only a timer works, and it shows that the request does not hang.
 */
import { Log, Path, Returns, get, param, post } from "usher-http";
import type { Route } from "usher-http";

const open = new Set<string>();
const notes = new Map<string, string>();

/** Waits until a case opens the gate, or `until` has aborted. */
export async function passed(gate: string, until?: AbortSignal): Promise<void> {
  while (!open.has(gate) && until?.aborted !== true) await aWhile();
}

const log = Log.source("conformance");

/** A record for which a case can wait: by a request, or in the log of a server that accepts no connection any more. */
export function note(key: string, text: string): void {
  notes.set(key, text);
  log.info(`${key}: ${text}`);
}

/** Long enough for other code to run. */
export function aWhile(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}

const name = Path.str("name");

export const controls: readonly Route[] = [
  post(Path.of("control", "open", name), { inputs: { name: param(name) }, returns: Returns.empty() }, ({ name }) => {
    open.add(name);
  }),
  get(Path.of("control", "noted", name), { inputs: { name: param(name) }, returns: Returns.text }, async ({ name }) => {
    while (!notes.has(name)) await aWhile();
    return notes.get(name) ?? "";
  }),
];
