import { batch } from "../../src/logging/batch.ts";
import type { Sink } from "../../src/logging/writer.ts";
import type { DenoRuntime } from "./runtime.ts";

declare const Deno: DenoRuntime;
declare function addEventListener(type: "unload" | "error" | "unhandledrejection", listener: () => void): void;

/** Standard error, many lines to a write, the last of them when the process exits. */
export function stderrSink(): Sink {
  return (sink ??= makeSink());
}

// One for the process, however many servers it has: they write to one place.
let sink: Sink | undefined;

function makeSink(): Sink {
  const encoder = new TextEncoder();
  const asleep = new Int32Array(new SharedArrayBuffer(4));
  const made = batch({
    format: Deno.stderr.isTerminal() ? "pretty" : "json",
    room: (bytes) => new Uint8Array(bytes),
    encode: (text, into, at) => encoder.encodeInto(text, into.subarray(at)).written,
    // Deno has no write that does not wait for a pipe's reader, and gives no right to open one anew.
    write: (bytes) => Deno.stderr.writeSync(bytes),
    pause: (ms) => {
      Atomics.wait(asleep, 0, 0, ms);
    },
  });
  addEventListener("unload", made.finish);
  // What nobody catches ends a process without an `unload`.
  addEventListener("error", made.finish);
  addEventListener("unhandledrejection", made.finish);
  return made;
}
