/** Shared by all candidates: the example's order, its Valibot schema, and the answer to placing one. */
import * as v from "valibot";

export const item = v.pipe(v.string(), v.minLength(1), v.maxLength(100));
export const quantity = v.pipe(v.number(), v.integer(), v.minValue(1));
export const NewOrder = v.object({ item, quantity });

export const sent = { item: "a fountain pen, black, with a fine nib", quantity: 3 };
// A fixed instant: all answers have one length, and no candidate reads the clock.
export const placedAt = new Date("2026-01-02T03:04:05.678Z");

/** @param {number} id @param {{ item: string, quantity: number }} order */
export function placed(id, { item, quantity }) {
  return { id, item, quantity, placed_at: placedAt };
}
