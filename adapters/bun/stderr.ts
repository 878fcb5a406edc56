import { constants, fstatSync, openSync, writeSync } from "node:fs";
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
  const fd = ownDescriptor();
  const encoder = new TextEncoder();
  const asleep = new Int32Array(new SharedArrayBuffer(4));
  const made = batch({
    format: isatty(2) ? "pretty" : "json",
    room: (bytes) => new Uint8Array(bytes),
    encode: (text, into, at) => encoder.encodeInto(text, into.subarray(at)).written,
    write: (bytes) => writeSync(fd, bytes),
    pause: (ms) => {
      Atomics.wait(asleep, 0, 0, ms);
    },
  });
  process.once("exit", made.finish);
  return made;
}

/**
 * A pipe, or a terminal, opened anew, as only Linux can: that it must not wait for whoever reads it is then so for this
 * process alone, while descriptor 2 is shared with whoever started it. A file never waits; a socket does.
 */
function ownDescriptor(): number {
  try {
    if (!isatty(2) && !fstatSync(2).isFIFO()) return 2;
    return openSync("/proc/self/fd/2", constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return 2;
  }
}
