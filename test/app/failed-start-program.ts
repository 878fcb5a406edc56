/** A program whose server cannot start, on the runtime that runs this file: what its work uses is closed then, as by `Pool.run`. */
import { Background, Path, Returns, get } from "usher-http";
import type { serve as Serve } from "usher-http/node";

const adapter = "Bun" in globalThis ? "bun" : "Deno" in globalThis ? "deno" : "node";
const { serve } = (await import(`usher-http/${adapter}`)) as { readonly serve: typeof Serve };
const routes = [get(Path.of("hello"), { returns: Returns.text }, () => "hi")];
const { port } = await serve(routes, { port: 0 });

let closeStore: (why: Error) => void = () => {};
const closed = new Promise<never>((_resolve, reject) => (closeStore = reject));
closed.catch(() => {});
const background = Background.create();
background.start("the sweep", () => closed);
try {
  await serve(routes, { port, background });
} catch (thrown) {
  closeStore(new Error("the store is closed"));
  await background.settled(60_000);
  throw thrown;
}
