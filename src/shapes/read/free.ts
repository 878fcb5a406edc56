import { everySort, tooLargeToRead } from "../sentences.ts";
import { isNeverRead, isObject } from "./names.ts";
import type { Members } from "./names.ts";
import type { Reader, Reading } from "./reading.ts";

/** Reads any JSON: handed on as it was parsed, unless something in it has to change. */
export const freeReader: Reader = { read, sorts: () => everySort, expected: () => ["any JSON"] };

function read(value: unknown, reading: Reading): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) return reading.wrong("too_large", tooLargeToRead);
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return readList(value, reading);
  return isObject(value) ? readObject(value, reading) : value;
}

function readList(list: readonly unknown[], reading: Reading): unknown {
  const level = reading.depth++;
  let out: unknown[] | undefined;
  for (let index = 0; index < list.length; index++) {
    reading.path[level] = index;
    const item = read(list[index], reading);
    if (out !== undefined) out.push(item);
    else if (item !== list[index]) out = [...list.slice(0, index), item];
  }
  reading.depth = level;
  return out ?? list;
}

function readObject(object: Members, reading: Reading): unknown {
  const level = reading.depth++;
  const names = Object.keys(object);
  let out: Members | undefined;
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    reading.path[level] = name;
    const skipped = isNeverRead(name);
    const member = skipped ? undefined : read(object[name], reading);
    if (out === undefined && (skipped || member !== object[name])) {
      out = {};
      for (const earlier of names.slice(0, index)) out[earlier] = object[earlier];
    }
    if (out !== undefined && !skipped) out[name] = member;
  }
  reading.depth = level;
  return out ?? object;
}
