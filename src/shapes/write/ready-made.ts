import { LongInteger } from "../exact-integers.ts";
import type { ReadyMade } from "../ready-made-table.ts";
import type { Write } from "./writing.ts";

export function readyMadeWriter(readyMade: ReadyMade): Write {
  return (value, writing) => {
    const written = readyMade.write(value);
    if (typeof written === "string") return written;
    if (written === undefined) {
      return value === undefined
        ? writing.refuse(readyMade.writes, value)
        : writing.fail(`must be ${readyMade.writes}`);
    }
    const number = Number(written);
    if (Number.isSafeInteger(number)) return number;
    return new LongInteger(written);
  };
}
