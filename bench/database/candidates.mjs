/** The same statements through usher's pool and through the drivers alone, with eight connections each. */
const size = 8;

/**
 * @typedef {object} Candidate
 * @property {string} name
 * @property {(url: string) => Promise<Client>} connect
 * @typedef {object} Client
 * @property {(id: number) => Promise<{ id: bigint | string, name: string }>} byId
 * @property {(id: number) => Promise<{ id: bigint | string, name: string }>} byQuery The same, from a text and its values.
 * @property {(id: number) => Promise<unknown>} inTransaction The same, between `begin` and `commit`.
 * @property {(seconds: number) => Promise<unknown>} sleep
 * @property {() => Promise<unknown>} close
 */

const text = "select id, name from item where id = $1";

/** @type {Record<string, Candidate>} */
export const candidates = {
  usher: {
    name: "usher",
    async connect(url) {
      const { Pool, Statement, Type } = await import("usher-http/postgres");
      const pool = await Pool.create(url, { size });
      const row = { id: Type.int64, name: Type.text };
      const find = Statement.find("select id, name from item where id = $1", { params: [Type.int], row });
      const sleep = Statement.exec("select pg_sleep($1)", { params: [Type.float] });
      return {
        byId: (id) => pool.exec(find, id),
        byQuery: async (id) => (await pool.query(text, [id])).rows[0],
        inTransaction: (id) => pool.transaction((db) => db.exec(find, id)),
        sleep: (seconds) => pool.exec(sleep, seconds),
        close: () => pool.close(),
      };
    },
  },
  postgres: {
    name: "postgres",
    async connect(url) {
      const { default: postgres } = await import("postgres");
      const sql = postgres(url, { max: size });
      return {
        byId: async (id) => (await sql`select id, name from item where id = ${id}`)[0],
        byQuery: async (id) => (await sql.unsafe(text, [id], { prepare: true }))[0],
        inTransaction: (id) => sql.begin(async (sql) => (await sql`select id, name from item where id = ${id}`)[0]),
        sleep: async (seconds) => sql`select pg_sleep(${seconds})`,
        close: () => sql.end(),
      };
    },
  },
  pg: {
    name: "pg",
    async connect(url) {
      const { default: pg } = await import("pg");
      const pool = new pg.Pool({ connectionString: url, max: size });
      const find = (id) => ({ name: "by-id", text: "select id, name from item where id = $1", values: [id] });
      return {
        byId: async (id) => (await pool.query(find(id))).rows[0],
        byQuery: async (id) => (await pool.query(text, [id])).rows[0],
        async inTransaction(id) {
          const client = await pool.connect();
          try {
            await client.query("begin");
            const [row] = (await client.query(find(id))).rows;
            await client.query("commit");
            return row;
          } finally {
            client.release();
          }
        },
        sleep: (seconds) => pool.query("select pg_sleep($1)", [seconds]),
        close: () => pool.end(),
      };
    },
  },
};
