/**
 * What a case tells a handler that waits, and what a handler notes for a case. By polling: of a runtime where one
 * request may not wake another (Workers), a timer is all there is, and it keeps the request from being taken for hung.
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

/** What a case can wait for: by asking, or of a server that takes no connection any more, by its log. */
export function note(key: string, text: string): void {
  notes.set(key, text);
  log.info(`${key}: ${text}`);
}

/** Long enough for others to run. */
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
