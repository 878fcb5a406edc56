/** A Worker that plays an act of `query-acts.ts` for each request: its pools live as long as it does. */
import { worker } from "../../../adapters/workers/index.ts";
import { Codec, Dep, Path, Query, Returns, get } from "../../../src/index.ts";
import { play } from "./query-acts.ts";

interface Env {
  readonly DATABASE: string;
}

const database = Dep.ofResource<string>("database");
const route = get(
  Path.root,
  { inputs: { database, act: Query.required("act", Codec.string) }, returns: Returns.text },
  ({ database, act }) => play(act, database),
);

// oxlint-disable-next-line import/no-default-export -- what a Worker's module exports
export default worker<Env>([route], (env) => ({ resources: [Dep.resource(database, env.DATABASE)] }));
