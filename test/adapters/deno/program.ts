/** Run by Deno: writes warnings alone, and one of them once its request is answered. */
import { serve } from "../../../adapters/deno/index.ts";
import { Log, Path, Returns, get } from "../../../src/index.ts";

Log.setup({ level: "warn", format: "json" });
const shop = Log.source("shop");
const late = get(Path.of("late"), { returns: Returns.text }, () => {
  setTimeout(() => shop.warn("late"), 20);
  return "now";
});
const { port, url } = await serve([late], { port: 0, host: "127.0.0.1" });
console.log(JSON.stringify({ port, url }));
