/** The example's two routes on Fastify with `postgres`: the same validation and statements. */
import fastify from "fastify";
import postgres from "postgres";

const integer = { type: "integer" };
const item = { type: "string", minLength: 1, maxLength: 100, pattern: "^[^\\0]*$" };
const quantity = { ...integer, minimum: 1, maximum: Number.MAX_SAFE_INTEGER };
const order = {
  type: "object",
  properties: { id: integer, item, quantity: integer, placed_at: { type: "string", format: "date-time" } },
};
const read = {
  schema: {
    params: { type: "object", properties: { order_id: integer }, required: ["order_id"] },
    response: { 200: order },
  },
};
const write = {
  schema: {
    headers: { type: "object", properties: { "idempotency-key": { type: "string", format: "uuid" } } },
    body: {
      type: "object",
      properties: { item, quantity },
      required: ["item", "quantity"],
      additionalProperties: false,
    },
    response: { 201: order },
  },
};

/** @param {string} url @param {number} size */
export function app(url, size) {
  const sql = postgres(url, { max: size });
  const app = fastify({ keepAliveTimeout: 60_000 });
  app.get("/orders/:order_id", read, async (request, reply) => {
    const { order_id } = /** @type {{ order_id: number }} */ (request.params);
    const [found] = await sql`select id, item, quantity, placed_at from orders where id = ${order_id}`;
    return found === undefined ? reply.code(404).send({ error: "not_found" }) : orderOf(found);
  });
  app.post("/orders", write, async (request, reply) => {
    const { item, quantity } = /** @type {{ item: string, quantity: number }} */ (request.body);
    try {
      const placed = await sql.begin((sql) => place(sql, item, quantity, request.headers["idempotency-key"] ?? null));
      reply.code(201);
      return placed;
    } catch (error) {
      if (error instanceof SoldOut) return reply.code(409).send({ error: "sold_out" });
      if (error instanceof postgres.PostgresError && error.constraint_name === "orders_key_key")
        return reply.code(409).send({ error: "already_placed" });
      throw error;
    }
  });
  return app;
}

class SoldOut extends Error {}

// For an array of times the driver infers the type of one element.
async function place(sql, item, quantity, key) {
  const stock = await sql`
    select stock.item, stock.left_over < wanted.quantity as is_short
    from stock join (
      select item, sum(quantity) as quantity
      from unnest(${[item]}::text[], ${[quantity]}::bigint[]) as given (item, quantity) group by item
    ) as wanted using (item)
    order by stock.item for update of stock`;
  if (stock.some(({ is_short }) => is_short)) throw new SoldOut();
  if (stock.length > 0)
    await sql`
      update stock set left_over = stock.left_over - wanted.quantity
      from (
        select item, sum(quantity) as quantity
        from unnest(${[item]}::text[], ${[quantity]}::bigint[]) as given (item, quantity) group by item
      ) as wanted
      where stock.item = wanted.item`;
  const [placed] = await sql`
    insert into orders (item, quantity, placed_at, key)
    select item, quantity, ${new Date()}::timestamptz, ${key}::uuid
    from unnest(${[item]}::text[], ${[quantity]}::bigint[]) with ordinality as given (item, quantity, place) order by place
    returning id, item, quantity, placed_at`;
  await sql`
    with last as (update last_change set number = number + cardinality(${[placed.id]}::bigint[]) returning number),
      forgotten as (delete from changes where number <= (select number from last) - 1000)
    insert into changes (number, what, id, item, quantity, placed_at)
    select last.number - cardinality(${[placed.id]}::bigint[]) + place, 'placed', id, item, quantity, placed_at
    from last, unnest(${[placed.id]}::bigint[], ${[placed.item]}::text[], ${[placed.quantity]}::bigint[],
      ${sql.array([placed.placed_at], 1184)}::timestamptz[]) with ordinality as given (id, item, quantity, placed_at, place)`;
  return orderOf(placed);
}

// The driver returns an int8 as text.
function orderOf({ id, item, quantity, placed_at }) {
  return { id: Number(id), item, quantity: Number(quantity), placed_at };
}
