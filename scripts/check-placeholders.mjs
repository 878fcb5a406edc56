/**
 * Fails while an address of the project is a placeholder: `REPOSITORY.example`, for one. npm runs it before it publishes the
 * package, and CONTRIBUTING.md says what to write.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const placeholder = /\b[A-Z]+\.example\b/g;

const found = ["package.json", "SECURITY.md"].flatMap((file) => {
  const names = new Set(readFileSync(root + file, "utf8").match(placeholder));
  return [...names].map((name) => `${file}: ${name} is a placeholder: write the address of this project`);
});
if (found.length > 0) {
  console.error(found.join("\n"));
  process.exit(1);
}
