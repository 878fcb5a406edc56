import { readFileSync } from "node:fs";
import { Meta, Path, Returns, get } from "usher-http";

const html = readFileSync("page.html", "utf8");

const meta = Meta.empty.add(Meta.hidden, true); // no part of the API

export const page = get(Path.root, { meta, returns: Returns.html }, () => html);
