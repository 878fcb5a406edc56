import { Dep, Form, Path, Refusal, Returns, now, post, refuse } from "usher-http";
import * as v from "valibot";
import { soldOut } from "./order.ts";
import { readOrders } from "./read-orders.ts";
import { store } from "./store.ts";

const mostBytes = 10 * 1024 * 1024;

/** Bytes of a body: the longest file, and the form around it. */
export const maxBody = mostBytes + 16 * 1024;

/** The orders of a CSV file, or everything that is wrong with it. */
const newOrders = Dep.join({ file: Form.File.required("orders") }, ({ file }) => {
  if (file.content.length > mostBytes) return refuse(Refusal.tooLarge);
  const text = textOf(file.content);
  if (text === undefined) return Dep.problem({ at: "form.orders", code: "malformed", message: "This is not text." });
  const read = readOrders(text, "form.orders");
  return read.ok ? read.value : Dep.problems(read.error);
});

/** One order that is sold out refuses the file: a 409 that names no line, once every line is right, and nothing placed. */
export const importOrders = post(
  Path.of("orders", "import"),
  {
    summary: "Place the orders of a CSV file: all of them, or none",
    inputs: { orders: newOrders, store, now },
    returns: Returns.json(v.object({ placed: v.pipe(v.number(), v.integer()) })),
    refuses: [soldOut],
  },
  async ({ orders, store, now }) => {
    const refused = await store.placeAll(orders, now);
    return refused ?? { placed: orders.length };
  },
);

/** Undefined where the bytes are no UTF-8; a byte order mark is no part of the text. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
