import { readFileSync } from "node:fs";
import { Path, Returns, get } from "usher-http";

const html = readFileSync("page.html", "utf8");

export const page = get(Path.root, { returns: Returns.html }, () => html);
