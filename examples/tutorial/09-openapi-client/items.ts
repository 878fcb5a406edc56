import { Path, Query, Returns, get, param } from "usher-http";
import * as v from "valibot";

export const Item = v.picklist(["pen", "ink"]);
export const Quantity = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100));

/** What one of each costs, in cents. */
export const prices = { pen: 120, ink: 450 };

const item = Path.param("item", Item);

export const getPrice = get(
  Path.of("items", item, "price"), // /items/{item}/price
  {
    inputs: {
      item: param(item),
      quantity: Query.default("quantity", Quantity, 1), // ?quantity=3
      gift: Query.default("gift", v.boolean(), false), // &gift=true
    },
    returns: Returns.json(v.object({ item: Item, quantity: Quantity, cents: v.number() })),
  },
  ({ item, quantity, gift }) => ({ item, quantity, cents: quantity * prices[item] + (gift ? 200 : 0) }),
);
