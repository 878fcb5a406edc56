/** A module whose default is an app: `bun run`, `deno serve` and Workers serve it by themselves. */
import { Answer, App, Path, Returns, clientGone, get, param } from "../../../src/index.ts";

const name = Path.str("name");

/** How many clients left, of those that asked for this number. */
let left = 0;
const watch = (clientGone: AbortSignal): string => {
  clientGone.addEventListener("abort", () => left++);
  return String(left);
};
async function* parts(text: string) {
  yield new TextEncoder().encode(text);
}

// oxlint-disable-next-line import/no-default-export -- what these runtimes serve
export default App.make([
  get(
    Path.of("hello", name),
    { inputs: { name: param(name) }, returns: Returns.text },
    ({ name }) => `Hello, ${name}.`,
  ),
  get(Path.of("left"), { inputs: { clientGone }, returns: Returns.text }, ({ clientGone }) => watch(clientGone)),
  get(Path.of("left", "streamed"), { inputs: { clientGone }, returns: Returns.response }, ({ clientGone }) =>
    Answer.stream(parts(watch(clientGone))),
  ),
]);
