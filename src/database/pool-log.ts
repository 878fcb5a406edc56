import { current } from "../logging/context.ts";
import type { LogContext } from "../logging/entry.ts";
import { log } from "../logging/writer.ts";
import type { Level } from "../logging/level.ts";

const source = "framework.postgres";

export function warn(message: string, context: LogContext | undefined = current()): void {
  write("warn", message, context);
}

export function info(message: string): void {
  write("info", message);
}

/** What a program says that cannot begin. */
export function error(message: string): void {
  write("error", message);
}

function write(level: Level, message: string, context: LogContext | undefined = current()): void {
  log({ level, source, message, fields: {}, context });
}
