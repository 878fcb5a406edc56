/** Of the program that the page leads to. */
import * as v from "valibot";

export const Order: v.ObjectSchema<
  { readonly id: v.NumberSchema<undefined>; readonly item: v.StringSchema<undefined> },
  undefined
> = v.object({ id: v.number(), item: v.string() });
export declare const orders: v.InferOutput<typeof Order>[];
