import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Answer, Meta, Path, Returns, get, param } from "usher-http";
import * as v from "valibot";
import { folder } from "./folder.ts";

/** Serves the source files of this example, to which the page links. */
export function sourceFiles() {
  const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));
  // Only these names: no other path reaches the file system.
  const file = Path.param("file", v.picklist(files), { unparsed: "next-route" });
  return get(
    Path.of("source", file),
    {
      meta: Meta.empty.add(Meta.hidden, true),
      inputs: { file: param(file) },
      returns: Returns.responses({ 200: { doc: "The file.", contentTypes: ["text/plain"] } }),
    },
    ({ file }) =>
      Answer.make(readFileSync(fileURLToPath(new URL(file, folder)), "utf8"), {
        contentType: "text/plain; charset=utf-8",
      }),
  );
}
