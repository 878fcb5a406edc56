import type { Kind } from "./kind.ts";

const instead: { readonly [type: string]: string } = {
  bigint: "use Shape.int64",
  blob: "read it with Form.File, or from the body itself",
  date: "use Shape.instant, or Shape.date for a day",
  file: "read it with Form.File, or from the body itself",
  function: "JSON has no functions",
  instance: "JSON has no classes: give its members as v.object, and make the instance of them in the handler",
  map: "use v.record",
  nan: "JSON has no NaN",
  promise: "await the value and give the shape of what it answers",
  set: "use v.array",
  symbol: "JSON has no symbols: use v.picklist or v.literal",
};

/** Refuses, when the app is made, a schema that no JSON can be. */
export function refuseKind(shape: Kind): void {
  // Of what is none, everything would be read and written as it comes.
  if (typeof shape.type !== "string") throw new Error("A shape is a schema of Valibot, and this is none.");
  if (shape.async)
    throw new Error(
      `v.${shape.type} is asynchronous here: a shape is read without waiting; check in the handler or in Dep.join.`,
    );
  const hint = instead[shape.type];
  if (hint !== undefined && shape.pipe === undefined)
    throw new Error(`v.${shape.type} is not a shape of JSON: ${hint}.`);
  if ("entries" in shape && Object.keys(shape.entries).includes("__proto__")) {
    throw new Error(
      `v.${shape.type} declares a member named __proto__, which would change the object it is read into.`,
    );
  }
  const words =
    shape.type === "literal" ? [shape.literal] : "options" in shape && shape.type !== "variant" ? shape.options : [];
  for (const word of words) {
    if (typeof word === "bigint" || typeof word === "symbol") {
      throw new Error(`v.${shape.type} holds a ${typeof word}, which is not a value of JSON: ${instead[typeof word]}.`);
    }
  }
}
