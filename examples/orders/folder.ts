import { existsSync } from "node:fs";

/** This folder, with what is not compiled: what was compiled from it lies elsewhere. */
export const folder: URL = new URL(
  existsSync(new URL("migrations", import.meta.url)) ? "./" : "../../../examples/orders/",
  import.meta.url,
);
