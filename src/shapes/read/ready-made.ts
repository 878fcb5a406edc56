import { Wrong } from "../ready-made-table.ts";
import type { ReadyMade } from "../ready-made-table.ts";
import type { Reader } from "./reading.ts";

export function readyMadeReader(readyMade: ReadyMade): Reader {
  return {
    sorts: () => readyMade.sorts,
    expected: () => readyMade.expected,
    read: (sent, reading) => {
      const value = readyMade.read(sent);
      return value instanceof Wrong ? reading.wrong(value.code, value.message) : value;
    },
  };
}
