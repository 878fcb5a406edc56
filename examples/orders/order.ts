import { Refusal, Shape, refuse } from "usher-http";
import * as v from "valibot";

const wholeNumber = v.pipe(v.number(), v.integer());
// PostgreSQL's text cannot contain NUL.
const item = v.pipe(v.string(), v.minLength(1), v.maxLength(100), v.regex(/^[^\0]*$/, "This must be text."));
const quantity = v.pipe(wholeNumber, v.minValue(1), v.maxValue(Number.MAX_SAFE_INTEGER));

export const NewOrder = Shape.named("NewOrder", v.object({ item, quantity }));
export const Change = Shape.named("Change", v.object({ quantity }));
export const Order = Shape.named("Order", v.object({ id: wholeNumber, item, quantity, placed_at: Shape.instant }));

export type NewOrder = Readonly<v.InferOutput<typeof NewOrder>>;

export const soldOut = Refusal.code("sold_out", { status: 409, doc: "There is none of that item left." });

/** The refusal for an item with too little stock. */
export function soldOutOf(item: string): Refusal<"sold_out"> {
  return refuse(soldOut, item === "unicorn" ? "There are no unicorns left." : "There is too little of that left.");
}
