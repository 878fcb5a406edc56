import type { Kind, ListKind } from "../kind.ts";
import { said } from "../said.ts";
import { mustBe } from "../sentences.ts";
import type { Sort } from "../sentences.ts";
import type { Compile, Reader } from "./reading.ts";

export const list: readonly Sort[] = ["a list"];

export function listReader(shape: ListKind, compile: Compile<Kind>): Reader {
  const item = compile(shape.item).read;
  return {
    sorts: () => list,
    expected: () => list,
    read: (value, reading) => {
      if (!Array.isArray(value)) return reading.wrong("unexpected_type", said(shape, value, mustBe(list, value)));
      const given: readonly unknown[] = value;
      const level = reading.depth++;
      const path = reading.path;
      // Handed on as it was parsed until an item turns out to read as something else.
      let out: unknown[] | undefined;
      for (let index = 0; index < given.length; index++) {
        path[level] = index;
        const one = given[index];
        const read = item(one, reading);
        if (out !== undefined) out.push(read);
        else if (read !== one) out = [...given.slice(0, index), read];
      }
      reading.depth = level;
      return out ?? given;
    },
  };
}
