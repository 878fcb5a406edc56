import { existsSync } from "node:fs";

/** This folder in the source: the compiled files are in another one, without the SQL files. */
export const folder: URL = new URL(
  existsSync(new URL("migrations", import.meta.url)) ? "./" : "../../../examples/orders/",
  import.meta.url,
);
