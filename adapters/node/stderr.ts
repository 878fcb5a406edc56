import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import type { Sink } from "../../src/logging/writer.ts";

const mostBytes = 65_536;
const mostMs = 10;

/**
 * Standard error, many lines to a write: one write for each line costs a request a third of its time. What waits goes
 * out within 10 ms, and at the latest when the process exits.
 */
export function stderrSink(): Sink {
  return (sink ??= makeSink());
}

// One for the process, however many servers it has: they write to one place.
let sink: Sink | undefined;

function makeSink(): Sink {
  const waiting = Buffer.allocUnsafeSlow(mostBytes);
  let length = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const bytes = waiting.subarray(0, length);
    length = 0;
    writeAll(bytes);
  };
  process.once("exit", flush);
  return {
    format: isatty(2) ? "pretty" : "json",
    // Into bytes at once: the pieces a line is made of are still in the processor's cache, and when many are written together they are not.
    write(line) {
      // A UTF-16 unit is three bytes of UTF-8 at the most.
      const most = line.length * 3 + 1;
      if (length + most > mostBytes) flush();
      if (most > mostBytes) return writeAll(Buffer.from(`${line}\n`));
      length += waiting.write(line, length);
      waiting[length++] = 0x0a;
      timer ??= setTimeout(flush, mostMs).unref();
    },
  };
}

// Descriptor 2 and never `process.stderr`: touched once, that one makes a full pipe fail where this one waits.
function writeAll(bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(2, bytes, at);
    } catch (error) {
      // Another part of the process made the pipe non-blocking, and its reader is slow; anything else is no place to write.
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
    }
  }
}
