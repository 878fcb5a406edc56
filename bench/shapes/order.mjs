/** An order of ten items: as it is sent, as it is stored, and an invalid one. */
import * as v from "valibot";

export const Order = v.object({
  customer: v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
  express: v.boolean(),
  note: v.optional(v.pipe(v.string(), v.maxLength(200))),
  items: v.pipe(
    v.array(
      v.object({
        sku: v.pipe(v.string(), v.minLength(3), v.maxLength(20)),
        quantity: v.pipe(v.number(), v.integer(), v.minValue(1)),
      }),
    ),
    v.minLength(1),
    v.maxLength(100),
  ),
});

const items = Array.from({ length: 10 }, (_, i) => ({ sku: `pen-${1000 + i}`, quantity: i + 1 }));

export const valid = {
  customer: "Ada Lovelace, London SW1",
  express: true,
  note: "Please leave it with the neighbours.",
  items,
};

/** It has three problems. */
export const invalid = {
  ...valid,
  express: "yes",
  items: items.map((item, i) => (i === 2 ? { ...item, quantity: 0 } : i === 7 ? { ...item, sku: 7 } : item)),
};
