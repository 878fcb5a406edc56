/** A Worker that opens a pool for each request, and closes it at its end. */
import { Pool, Statement, Type } from "../../../adapters/postgres/index.ts";
import { worker } from "../../../adapters/workers/index.ts";
import { Codec, Dep, Path, Query, Returns, get } from "../../../src/index.ts";

interface Env {
  readonly DATABASE: string;
}

const database = Dep.ofResource<string>("database");
const next = Statement.find("select $1 + 1 as next", { params: [Type.int], row: { next: Type.int } });

const route = get(
  Path.root,
  { inputs: { database, n: Query.required("n", Codec.int) }, returns: Returns.text },
  async ({ database, n }) => {
    const pool = await Pool.create(database, { size: 1 });
    try {
      return String((await pool.exec(next, n)).next);
    } finally {
      await pool.close();
    }
  },
);

// oxlint-disable-next-line import/no-default-export -- what a Worker's module exports
export default worker<Env>([route], (env) => ({ resources: [Dep.resource(database, env.DATABASE)] }));
