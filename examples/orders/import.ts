import { Deadline, Dep, Form, Meta, Path, Refusal, Returns, now, refuse } from "usher-http";
import * as v from "valibot";
import { soldOut } from "./order.ts";
import { changes } from "./orders.ts";
import { readOrders } from "./read-orders.ts";

const maxBytes = 10 * 1024 * 1024;

/** The limit of a body in bytes: the largest file and the form around it. */
export const maxBody = maxBytes + 16 * 1024;

/** The orders of a CSV file, or all of its problems. */
const newOrders = Dep.join({ file: Form.File.required("orders") }, ({ file }) => {
  if (file.content.length > maxBytes) return refuse(Refusal.tooLarge);
  const text = textOf(file.content);
  if (text === undefined) return Dep.problem({ at: "form.orders", code: "malformed", message: "This is not text." });
  const read = readOrders(text, "form.orders");
  return read.ok ? read.value : Dep.problems(read.error);
});

/** If one order is sold out, nothing is placed and the answer is a 409, which names no line. */
export const importOrders = changes.post(
  Path.of("import"),
  {
    summary: "Import a CSV file",
    // A file of ten megabytes takes longer than the ten seconds of other requests.
    meta: Meta.empty.add(Meta.deadline, Deadline.make(60_000)),
    description: "Places all orders of the file, or none: every wrong line is a problem with its line and column.",
    inputs: { read: newOrders, now },
    returns: Returns.json(v.object({ placed: v.pipe(v.number(), v.integer()) }), {
      doc: "How many orders were placed.",
      examples: [{ placed: 2 }],
    }),
    refuses: [soldOut],
  },
  async ({ read, tx, now }) => {
    const refused = await tx.placeAll(read, now);
    return refused ?? { placed: read.length };
  },
);

/** Decodes UTF-8 without a byte order mark; undefined if it is invalid. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
