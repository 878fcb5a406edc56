import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import { batch } from "../../src/logging/batch.ts";
import type { Sink } from "../../src/logging/writer.ts";

/** Standard error, many lines to a write, the last of them when the process exits. */
export function stderrSink(): Sink {
  return (sink ??= makeSink());
}

// One for the process, however many servers it has: they write to one place.
let sink: Sink | undefined;

function makeSink(): Sink {
  const made = batch(isatty(2) ? "pretty" : "json", writeAll);
  process.once("exit", made.flush);
  return made;
}

// Descriptor 2 and never `process.stderr`: touched once, that one makes a full pipe fail where this one waits, and a
// pipe whose reader has gone would end the process.
function writeAll(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.byteLength;) {
    try {
      at += writeSync(2, bytes, at);
    } catch (error) {
      // Another part of the process made the pipe non-blocking, and its reader is slow; anything else is no place to write.
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
    }
  }
}
