import { describe, expect, test } from "vitest";
import fc from "fast-check";
import * as v from "valibot";
import { compileReader } from "../../src/schema/read.ts";
import { compileWriter } from "../../src/schema/write.ts";
import { anyJson, cases, namesEverything, nearly, roundTrips, spelled } from "./random-shapes.ts";
import type { Case } from "./random-shapes.ts";
import { rounds } from "../support/wide.ts";
import { codePoint } from "../support/code-point.ts";

interface Sent {
  readonly one: Case;
  readonly json: unknown;
}

/** A shape, and JSON that fits it or nearly does. */
function sentTo(shapes: fc.Arbitrary<Case>): fc.Arbitrary<Sent> {
  return shapes.chain((one) =>
    nearly(one.json).map((json) => ({
      one,
      json,
      [fc.toStringMethod]: () => JSON.stringify({ json, shape: spelled(one.shape) }),
    })),
  );
}

/** The same value with every text and number something a sentence would be caught quoting. */
function marked(json: unknown): string {
  return JSON.stringify(json, (_name, value: unknown) => {
    if (typeof value === "string") return `${value}S3CR3T`;
    return typeof value === "number" ? value + 98765.4321 : value;
  });
}

/** The same value with one more member in every object. */
function withIntruders(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withIntruders);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, withIntruders(member)] as const);
  return { intruder: "secret", ...Object.fromEntries(members) };
}

/** JSON.stringify writes −0 as 0. */
function withoutMinusZero(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

describe("any shape and any JSON: read", () => {
  test("reads like Valibot", () => {
    let read = 0;
    fc.assert(
      fc.property(sentTo(cases), ({ one, json }) => {
        const text = JSON.stringify(json);
        const ours = compileReader(one.shape).readText(text);
        const theirs = v.safeParse(one.oracle, JSON.parse(text));
        if (ours.ok) read++;
        expect(ours.ok, JSON.stringify(ours)).toBe(theirs.success);
        if (ours.ok) expect(ours.value).toEqual(theirs.output);
      }),
      { numRuns: rounds(3000) },
    );
    expect(read).toBeGreaterThan(rounds(500));
  });

  test("reports problems without any text of the value", () => {
    fc.assert(
      fc.property(sentTo(cases), ({ one, json }) => {
        const read = compileReader(one.shape).readText(marked(json));
        if (!read.ok) expect(JSON.stringify(read.error)).not.toMatch(/S3CR3T|98765|4321/);
      }),
      { numRuns: rounds(2000) },
    );
  });
});

describe("any shape and any JSON: written", () => {
  test("writes what it has read, and reads that as the same value", () => {
    let written = 0;
    fc.assert(
      fc.property(sentTo(cases.filter(({ shape }) => roundTrips(shape))), ({ one, json }) => {
        const reader = compileReader(one.shape);
        const read = reader.readText(JSON.stringify(json));
        if (!read.ok) return;
        const text = compileWriter(one.shape).write(read.value);
        expect(text).toMatchObject({ ok: true });
        if (!text.ok) return;
        written++;
        expect(withoutMinusZero(reader.readText(text.value))).toEqual(withoutMinusZero(read));
      }),
      { numRuns: rounds(3000) },
    );
    expect(written).toBeGreaterThan(rounds(500));
  });

  test("writes no undeclared member", () => {
    fc.assert(
      fc.property(sentTo(cases.filter(({ shape }) => namesEverything(shape))), ({ one, json }) => {
        const read = compileReader(one.shape).readText(JSON.stringify(json));
        const value = withIntruders(read.ok ? read.value : json);
        const text = compileWriter(one.shape).write(value);
        expect(text.ok ? text.value : text.error).not.toMatch(/intruder|secret/);
      }),
      { numRuns: rounds(2000) },
    );
  });

  test("reads any bytes, and writes any value, without throwing", () => {
    const text = fc.oneof(
      anyJson.map((json) => JSON.stringify(json)),
      fc.string({ unit: codePoint }),
    );
    const bytes = fc.oneof(
      fc.uint8Array(),
      text.map((some) => new TextEncoder().encode(some)),
    );
    fc.assert(
      fc.property(
        cases,
        bytes,
        text,
        fc.anything({ withBigInt: true, withDate: true, maxDepth: 2 }),
        (one, body, some, value) => {
          const reader = compileReader(one.shape);
          expect(reader.read(body)).toHaveProperty("ok");
          expect(reader.readText(some)).toHaveProperty("ok");
          expect(compileWriter(one.shape).write(value)).toHaveProperty("ok");
        },
      ),
      { numRuns: rounds(500) },
    );
  });
});
