import { getGlobalConfig } from "valibot";
import type { Kind, Wrapper } from "../kind.ts";
import { said } from "../said.ts";
import { mustBe, required, sortOf } from "../sentences.ts";
import { copyOf } from "./copy.ts";
import type { Compile, Reader } from "./reading.ts";

/** Shapes that let a value be absent or null, or take that back. */
export function optionalReader(shape: Wrapper, compile: Compile<Kind>): Reader {
  const wrapped = compile(shape.wrapped);
  switch (shape.type) {
    case "optional":
    case "exact_optional":
      return absentReader(shape, wrapped);
    case "nullable":
    case "nullish":
      return nullableReader(shape, wrapped);
    case "undefinedable":
      return {
        ...wrapped,
        read: (value, reading) => wrapped.read(value === undefined ? defaultOf(shape, value) : value, reading),
      };
    default:
      return requiredReader(shape, wrapped);
  }
}

/** A caller may say null for what is not there, unless null is a value of the shape. */
function absentReader(shape: Wrapper, wrapped: Reader): Reader {
  let takesNull: boolean | undefined;
  return {
    sorts: () => [...new Set([...wrapped.sorts(), "null" as const])],
    expected: wrapped.expected,
    read: (value, reading) => {
      if (value !== undefined && value !== null) return wrapped.read(value, reading);
      if (value === null && (takesNull ??= wrapped.sorts().includes("null"))) return wrapped.read(null, reading);
      const instead = defaultOf(shape, undefined);
      return instead === undefined ? undefined : wrapped.read(instead, reading);
    },
  };
}

function nullableReader(shape: Wrapper, wrapped: Reader): Reader {
  const expected = (): readonly string[] => [...wrapped.expected(), "null"];
  let taken: readonly string[] | undefined;
  return {
    sorts: () => [...new Set([...wrapped.sorts(), "null" as const])],
    expected,
    read: (value, reading) => {
      if (value !== null && value !== undefined) {
        if ((taken ??= wrapped.sorts()).includes(sortOf(value))) return wrapped.read(value, reading);
        return reading.wrong("unexpected_type", said(shape.wrapped, value, mustBe(expected(), value)));
      }
      const instead = defaultOf(shape, value);
      return instead === null || instead === undefined ? instead : wrapped.read(instead, reading);
    },
  };
}

function requiredReader(shape: Wrapper, wrapped: Reader): Reader {
  const refusesNull = shape.type !== "non_optional";
  return {
    sorts: () => wrapped.sorts().filter((sort) => !(refusesNull && sort === "null")),
    expected: () => wrapped.expected().filter((word) => !(refusesNull && word === "null")),
    read: (value, reading) => {
      const count = reading.count;
      const read = value === null && refusesNull ? null : wrapped.read(value, reading);
      if (reading.count !== count) return read;
      if (read === undefined && shape.type !== "non_nullable") return reading.wrong("required", required);
      if (read !== null || !refusesNull) return read;
      const words = wrapped.expected().filter((word) => word !== "null");
      return reading.wrong("unexpected_type", said(shape, value, mustBe(words, null)));
    },
  };
}

/** What stands for an absent value, in its JSON form; a list or an object is a new one each time. */
function defaultOf(shape: Wrapper, absent: null | undefined): unknown {
  const given = shape.default;
  if (given === undefined) return absent;
  return typeof given === "function" ? given({ value: absent }, getGlobalConfig()) : copyOf(given);
}
