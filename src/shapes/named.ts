import type { Shape } from "./shape.ts";

const names = new WeakMap<object, string>();

/**
 * Names a shape as a component of the API document, and answers that same shape.
 *
 * @throws Error if the shape has another name already.
 */
export function named<S extends Shape>(name: string, shape: S): S {
  const before = names.get(shape);
  if (before !== undefined && before !== name) {
    throw new Error(
      `Shape.named: one shape cannot be both "${before}" and "${name}"; make a second one for the second name.`,
    );
  }
  names.set(shape, name);
  return shape;
}

/** The name a shape was given with {@link named}. */
export function nameOf(shape: object): string | undefined {
  return names.get(shape);
}
