/** Run by each Node: a server that reports which parts of Node are loaded. */
import * as v from "valibot";
import { Codec, Path, Query, Returns, get, json, post } from "usher-http";
import { serve } from "../../../adapters/node/index.ts";
import type { ServeOptions } from "../../../adapters/node/index.ts";

const { moduleLoadList } = process as unknown as { readonly moduleLoadList: readonly string[] };
const Pet = v.object({ name: v.string() });

const routes = [
  get(Path.of("loaded"), { returns: Returns.json(v.array(v.string())) }, () => [...moduleLoadList]),
  get(Path.of("n"), { inputs: { n: Query.required("n", Codec.int) }, returns: Returns.text }, ({ n }) => `${n}`),
  post(Path.of("pets"), { inputs: { pet: json(Pet) }, returns: Returns.json(Pet) }, ({ pet }) => pet),
];

const options = JSON.parse(process.argv[2] ?? "{}") as ServeOptions;
const server = await serve(routes, { port: 0, host: "127.0.0.1", ...options });
console.log(JSON.stringify({ port: server.port, url: server.url }));
