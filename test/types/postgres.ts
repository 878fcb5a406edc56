/** What the compiler must accept of statements and pools, and refuse. */
import * as v from "valibot";
import { Path, Refusal, Returns, get, refuse } from "usher-http";
import { DatabaseError, Statement, Type } from "usher-http/postgres";
import type { Pool } from "usher-http/postgres";

const takeStock = Statement.count("update stock set left_over = left_over - $2 where item = $1 and left_over >= $2", {
  params: [Type.text, Type.int],
});
const addOrder = Statement.find(
  "insert into orders (item, quantity, key) values ($1, $2, $3) returning id, placed_at",
  { params: [Type.text, Type.int, Type.optional(Type.uuid)], row: { id: Type.int64, placed_at: Type.instant } },
);
const soldOut = Refusal.code("sold_out", { status: 409, doc: "There is none of that item left." });
const alreadyPlaced = Refusal.code("already_placed", { status: 409, doc: "An order with that key is placed." });

export async function place(pool: Pool, item: string, quantity: number) {
  try {
    return await pool.transaction(
      async (db) => {
        if ((await db.exec(takeStock, item, quantity)) === 0) return refuse(soldOut, "There is none left.");
        const order = await db.exec(addOrder, item, quantity, undefined);
        const id: bigint = order.id;
        const at: Date = order.placed_at;
        return { id, at };
      },
      { isolation: "serializable", retries: 3 },
    );
  } catch (error) {
    if (DatabaseError.conflict(error, "orders_key_key")) return refuse(alreadyPlaced, "That order was placed before.");
    throw error;
  }
}

export async function answers(pool: Pool): Promise<void> {
  const row = { mood: Type.enum(["fine", "so so"]), tags: Type.array(Type.optional(Type.text)) };
  const found = await pool.exec(Statement.findOptional("select mood, tags from person", { row }));
  const mood: "fine" | "so so" | undefined = found?.mood;
  const tags: readonly (string | undefined)[] | undefined = found?.tags;
  const placed: { id: bigint; at: Date } | Refusal<"sold_out"> | Refusal<"already_placed"> = await place(
    pool,
    "pen",
    1,
  );
  const json: { a: string } = (
    await pool.exec(Statement.find("select j", { row: { j: Type.json(v.object({ a: v.string() })) } }))
  ).j;
  const noted = Statement.list("select note from person", { row: { note: Type.nullable(Type.text) } });
  const notes: readonly { readonly note: string | null }[] = await pool.exec(noted);
  // A row of it is an answer of `v.nullable` as it stands.
  get(Path.of("notes"), { returns: Returns.json(v.array(v.object({ note: v.nullable(v.string()) }))) }, () => notes);
  const nothing: void = await pool.exec(Statement.exec("select 1"));
  await Statement.verify(pool, [takeStock, addOrder]);
  void [mood, tags, placed, json, nothing];
}

export function refused(pool: Pool): void {
  // @ts-expect-error a parameter of another type
  void pool.exec(addOrder, "pen", "2", undefined);
  // @ts-expect-error a parameter is missing
  void pool.exec(takeStock, "pen");
  // @ts-expect-error a parameter too many
  void pool.exec(takeStock, "pen", 1, 2);
  // @ts-expect-error a column that is not read
  void pool.exec(addOrder, "pen", 2, undefined).then((order) => order.quantity);
  // @ts-expect-error an invalid word
  void pool.exec(Statement.exec("select $1", { params: [Type.enum(["a"])] }), "b");
  // @ts-expect-error an isolation there is not
  void pool.transaction(async () => {}, { isolation: "snapshot" });
}
