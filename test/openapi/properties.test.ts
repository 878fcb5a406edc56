/** Of any shape: what is read is as its schema says, and so is what is written. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Path, Returns, json, post } from "usher-http";
import type { Shape } from "usher-http";
import { compileReader } from "../../src/schema/read.ts";
import { compileWriter } from "../../src/schema/write.ts";
import { cases, spelled } from "../schema/random-shapes.ts";
import { compiler } from "./ajv.ts";
import { described, jsonSchema, onlyOperation } from "./described.ts";

function validators(shape: Shape) {
  const route = post(Path.of("a"), { inputs: { a: json(shape) }, returns: Returns.json(shape) }, ({ a }) => a);
  const document = described([route]);
  const compile = compiler(document);
  const { requestBody, responses } = onlyOperation(document);
  return { read: compile(jsonSchema(requestBody)), written: compile(jsonSchema(responses["200"])) };
}

/** A shape that reads more than it says to anyone, or by a function of its author's. */
function readsMore(shape: Shape): boolean {
  return /"fallback"/.test(JSON.stringify(spelled(shape)));
}
/** A shape that takes less than it says: a rule of its author's own, or a default that is none of its values. */
function readsLess(shape: Shape): boolean {
  return /"fallback"|"check"|"transform"|"trim"|"default"/.test(JSON.stringify(spelled(shape)));
}

/** Whole numbers end at 2^53 here, and nowhere in JSON Schema. */
function isSafe(value: unknown): boolean {
  if (typeof value === "number") return !Number.isInteger(value) || Number.isSafeInteger(value);
  return typeof value !== "object" || value === null || Object.values(value).every(isSafe);
}

const some = cases.chain((one) => fc.tuple(fc.constant(one.shape), fc.array(one.json, { minLength: 1, maxLength: 5 })));

describe("any shape", () => {
  it("reads the values that its schema allows, and no others", () => {
    let [checkedTaken, checkedAllowed] = [0, 0];
    fc.assert(
      fc.property(some, ([shape, values]) => {
        const reader = compileReader(shape);
        const { read } = validators(shape);
        for (const value of values) {
          const taken = reader.readText(JSON.stringify(value)).ok;
          const allowed = read(value);
          const shown = () => JSON.stringify([spelled(shape), value, read.errors, read.schema]);
          if (taken && !readsMore(shape)) {
            checkedTaken++;
            expect(allowed, shown()).toBe(true);
          }
          if (allowed && !readsLess(shape) && isSafe(value)) {
            checkedAllowed++;
            expect(taken, shown()).toBe(true);
          }
        }
      }),
      { numRuns: 100 },
    );
    expect(checkedTaken).toBeGreaterThan(50);
    expect(checkedAllowed).toBeGreaterThan(20);
  });

  it("writes values that fit its schema", () => {
    let written = 0;
    fc.assert(
      fc.property(some, ([shape, values]) => {
        // A fallback need not be of its own shape.
        fc.pre(!readsMore(shape));
        const reader = compileReader(shape);
        const writer = compileWriter(shape);
        const { written: isWritten } = validators(shape);
        for (const value of values) {
          const read = reader.readText(JSON.stringify(value));
          if (!read.ok) continue;
          const text = writer.write(read.value);
          if (!text.ok) continue;
          const shown = () => JSON.stringify([spelled(shape), value, text.value, isWritten.errors, isWritten.schema]);
          written++;
          expect(isWritten(JSON.parse(text.value)), shown()).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
    expect(written).toBeGreaterThan(50);
  });
});
