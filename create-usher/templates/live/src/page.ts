import { fileURLToPath } from "node:url";
import { Files } from "usher-http/files";

/** The files of `public`. They are read when a browser asks, so a change needs no restart. */
export const pageRoutes = Files.directory(fileURLToPath(new URL("../public", import.meta.url)), {
  index: "index.html",
});
