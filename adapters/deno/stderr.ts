import { batch } from "../../src/logging/batch.ts";
import type { Sink } from "../../src/logging/writer.ts";
import type { DenoRuntime } from "./runtime.ts";

declare const Deno: DenoRuntime;
declare function addEventListener(type: "unload", listener: () => void): void;

/** Standard error, many lines to a write, the last of them when the process exits. */
export function stderrSink(): Sink {
  return (sink ??= makeSink());
}

// One for the process, however many servers it has: they write to one place.
let sink: Sink | undefined;

function makeSink(): Sink {
  const made = batch(Deno.stderr.isTerminal() ? "pretty" : "json", writeAll);
  addEventListener("unload", made.flush);
  return made;
}

function writeAll(bytes: Uint8Array): void {
  try {
    for (let at = 0; at < bytes.byteLength;) at += Deno.stderr.writeSync(bytes.subarray(at));
  } catch {
    // Nobody reads it any more.
  }
}
