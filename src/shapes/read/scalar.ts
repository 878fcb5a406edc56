import type { Action, Other, Scalar } from "../kind.ts";
import { said } from "../said.ts";
import { fraction, mustBe, outside, wholeHere } from "../sentences.ts";
import type { Sort } from "../sentences.ts";
import type { Read, Reader, Reading } from "./reading.ts";

const text: readonly Sort[] = ["text"];
const number: readonly Sort[] = ["a number"];
const boolean: readonly Sort[] = ["true or false"];
const nothing: readonly Sort[] = ["null"];
const whole = ["a whole number"];

export function textReader(shape: Scalar): Reader {
  return scalar(text, (value, reading) => {
    if (typeof value === "string") return value;
    return reading.wrong("unexpected_type", said(shape, value, mustBe(text, value)));
  });
}

export function booleanReader(shape: Scalar): Reader {
  return scalar(boolean, (value, reading) => {
    if (typeof value === "boolean") return value;
    return reading.wrong("unexpected_type", said(shape, value, mustBe(boolean, value)));
  });
}

export function nullReader(shape: Scalar): Reader {
  return scalar(nothing, (value, reading) => {
    if (value === null) return value;
    return reading.wrong("unexpected_type", said(shape, value, mustBe(nothing, value)));
  });
}

/** A shape that no JSON value fits. */
export function nothingReader(shape: Other): Reader {
  return scalar([], (value, reading) => reading.wrong("unexpected_type", said(shape, value, mustBe([], value))));
}

export function numberReader(shape: Scalar): Reader {
  return scalar(number, function read(value, reading): unknown {
    if (typeof value === "number" && Number.isFinite(value)) return value;
    if (typeof value === "bigint") return read(Number(value), reading);
    if (typeof value !== "number") return reading.wrong("unexpected_type", said(shape, value, mustBe(number, value)));
    return tooFar(value, "a number", reading);
  });
}

/** A number whose pipe asks for a whole one: what is not whole breaks no further bound. */
export function wholeReader(shape: Scalar, integer: Action): Reader {
  return {
    sorts: () => number,
    expected: () => whole,
    read: function read(value, reading): unknown {
      if (Number.isSafeInteger(value)) return value;
      if (typeof value === "bigint") return read(Number(value), reading);
      if (typeof value !== "number") return reading.wrong("unexpected_type", said(shape, value, mustBe(whole, value)));
      if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return tooFar(value, wholeHere, reading);
      return reading.wrong("unexpected_type", said(integer, value, fraction));
    },
  };
}

function tooFar(value: number, kind: string, reading: Reading): void {
  const below = value < 0;
  reading.wrong(below ? "too_small" : "too_large", outside(kind, below));
}

function scalar(sorts: readonly Sort[], read: Read): Reader {
  return { sorts: () => sorts, expected: () => sorts, read };
}
