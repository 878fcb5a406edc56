/** Run by each runtime: a store that nothing closes, until its server is away. */
import { setTimeout as delay } from "node:timers/promises";
import { idempotencyStore } from "../../../adapters/redis/index.ts";

const store = await idempotencyStore(process.argv[2] ?? "", { waitMs: 60_000 });
const isThere = (): Promise<boolean> =>
  store.extend("digest", "token", 1000).then(
    () => true,
    () => false,
  );
console.log("there");
while (await isThere()) await delay(10);
console.log("away");
