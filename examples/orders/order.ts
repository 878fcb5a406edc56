import { Refusal, Shape } from "usher-http";
import * as v from "valibot";

const wholeNumber = v.pipe(v.number(), v.integer());
const item = v.pipe(v.string(), v.minLength(1), v.maxLength(100));
const quantity = v.pipe(wholeNumber, v.minValue(1));

export const NewOrder = Shape.named("NewOrder", v.object({ item, quantity }));
export const Change = Shape.named("Change", v.object({ quantity }));
export const Order = Shape.named("Order", v.object({ id: wholeNumber, item, quantity, placed_at: Shape.instant }));

export type NewOrder = Readonly<v.InferOutput<typeof NewOrder>>;

export const soldOut = Refusal.code("sold_out", { status: 409, doc: "There is none of that item left." });

export function isSoldOut({ item }: NewOrder): boolean {
  return item === "unicorn";
}
