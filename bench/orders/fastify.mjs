/**
 * The example's two routes on Fastify with `postgres`: the same validation and statements. Each answer tells its request's id,
 * which is a number of twelve digits, and an order has its version as its entity tag, as the example's has.
 */
import { createHash } from "node:crypto";
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
    headers: {
      type: "object",
      properties: { "idempotency-key": { type: "string", pattern: "^[!#-+\\--:<-~]{1,255}$" } },
    },
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
  let asked = 0;
  // The load needs answers of one length, which Fastify's own number has not.
  const app = fastify({ keepAliveTimeout: 60_000, genReqId: () => (++asked).toString().padStart(12, "0") });
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    done();
  });
  app.get("/orders/:order_id", read, async (request, reply) => {
    const { order_id } = /** @type {{ order_id: number }} */ (request.params);
    const [found] = await sql`select id, item, quantity, placed_at, version from orders where id = ${order_id}`;
    if (found === undefined) return reply.code(404).send({ error: "not_found" });
    const tag = `"${found.version}"`;
    reply.header("etag", tag);
    return has(request.headers["if-none-match"], tag) ? reply.code(304).send() : orderOf(found);
  });
  app.post("/orders", write, async (request, reply) => {
    const { item, quantity } = /** @type {{ item: string, quantity: number }} */ (request.body);
    const { status, body } = await sql.begin((sql) =>
      once(sql, request.headers["idempotency-key"], `POST /orders\n${JSON.stringify(request.body)}`, () =>
        sql
          .savepoint((sql) => place(sql, item, quantity))
          .then(
            (placed) => ({ status: 201, body: placed }),
            (error) => {
              if (error instanceof SoldOut) return { status: 409, body: { error: "sold_out" } };
              throw error;
            },
          ),
      ),
    );
    return reply.code(status).send(body);
  });
  return app;
}

/** Whether the caller has what the tag is of (RFC 9110 §13.1.2). @param {string | undefined} given @param {string} tag */
function has(given, tag) {
  if (given === undefined) return false;
  return given === "*" || given.split(",").some((each) => each.trim().replace(/^W\//, "") === tag);
}

class SoldOut extends Error {}

const sha256 = (text) => createHash("sha256").update(text).digest("hex");

/** The kept answer of a key, or that of the work, kept in the same transaction. */
async function once(sql, key, asked, work) {
  if (key === undefined) return work();
  const digest = sha256(key);
  const fingerprint = sha256(asked);
  const lock = BigInt.asIntN(64, BigInt(`0x${digest.slice(0, 16)}`)).toString();
  const [{ locked }] = await sql`select pg_try_advisory_xact_lock(${lock}::bigint) as locked`;
  if (!locked) return { status: 409, body: { error: "idempotency_key_in_use" } };
  const [known] = await sql`
    select fingerprint, answer from answers where digest = ${digest} and kept_until > clock_timestamp()`;
  if (known !== undefined && known.fingerprint !== fingerprint)
    return { status: 422, body: { error: "idempotency_key_reused" } };
  if (known !== undefined) return JSON.parse(known.answer);
  const answer = await work();
  await sql`
    insert into answers (digest, fingerprint, token, answer, locked_until, kept_until)
    values (${digest}, ${fingerprint}, '', ${JSON.stringify(answer)}, clock_timestamp(), clock_timestamp() + interval '1 day')`;
  return answer;
}

// For an array of times the driver infers the type of one element.
async function place(sql, item, quantity) {
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
    insert into orders (item, quantity, placed_at)
    select item, quantity, ${new Date()}::timestamptz
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
