/** Run by Deno: sets `console.warn` after a request asked for `clientGone`, and tells who has it once that is answered. */
import { serve } from "../../../adapters/deno/index.ts";
import { Path, Returns, clientGone, get } from "../../../src/index.ts";

const said: unknown[] = [];
const { warn: denos } = console;
let wrapped = denos;
const mine = (...words: unknown[]): void => {
  said.push(...words);
  wrapped(...words);
};

const watched = { inputs: { clientGone }, returns: Returns.text };
const sets = get(Path.of("sets"), watched, () => {
  wrapped = console.warn;
  console.warn = mine;
  return wrapped === denos ? "not hushed" : "set";
});
const whose = get(Path.of("whose"), watched, () => (console.warn === mine ? `mine, ${said.length}` : "another"));
const { port, url } = await serve([sets, whose], { port: 0, host: "127.0.0.1" });
console.log(JSON.stringify({ port, url }));
