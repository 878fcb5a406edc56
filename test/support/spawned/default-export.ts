/** A module whose default is an app: `bun run`, `deno serve` and Workers serve it by themselves. */
import { App, Path, Returns, get, param } from "../../../src/index.ts";

const name = Path.str("name");

// oxlint-disable-next-line import/no-default-export -- what these runtimes serve
export default App.make([
  get(
    Path.of("hello", name),
    { inputs: { name: param(name) }, returns: Returns.text },
    ({ name }) => `Hello, ${name}.`,
  ),
]);
