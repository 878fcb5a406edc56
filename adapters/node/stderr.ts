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
  const asleep = new Int32Array(new SharedArrayBuffer(4));
  const made = batch({
    format: isatty(2) ? "pretty" : "json",
    room: (bytes) => Buffer.allocUnsafeSlow(bytes),
    encode: (text, into, at) => (into as Buffer).write(text, at),
    write: (bytes) => writeSync(fd, bytes),
    pause: (ms) => {
      Atomics.wait(asleep, 0, 0, ms);
    },
  });
  process.once("exit", made.finish);
  return made;
}

/**
 * A descriptor that never waits for whoever reads it. A pipe and a terminal are opened anew, as only Linux can: descriptor 2
 * is shared with whoever started this process, and `process.stderr`, touched once, would have all of them fail where it
 * is full. A socket is this process's own, and that is what makes it not wait. A file never does.
 */
function ownDescriptor(): number {
  try {
    const stat = fstatSync(2);
    if (stat.isSocket()) void process.stderr;
    if (!isatty(2) && !stat.isFIFO()) return 2;
    return openSync("/proc/self/fd/2", constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return 2;
  }
}
