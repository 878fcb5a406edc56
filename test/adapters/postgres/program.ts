/** A program that serves with a pool, where there is a database. */
import process from "node:process";
import { serve } from "../../../adapters/node/index.ts";
import { Pool } from "../../../adapters/postgres/index.ts";
import { Path, Returns, get } from "../../../src/index.ts";

await Pool.run(process.argv[2] as string, {}, async () => {
  const route = get(Path.root, { summary: "Says hello", returns: Returns.text }, () => "hello");
  const server = await serve([route], { port: 0 });
  console.log("listening");
  await server.stop();
});
