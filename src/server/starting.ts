import { noteStart } from "../app/failed-start.ts";
import { isObject } from "../arguments.ts";

/** Starts a server. Where that fails, the work of its program logs nothing that would be read before the error. */
export async function starting<S>(options: unknown, start: () => Promise<S>): Promise<S> {
  const background = isObject(options) ? options["background"] : undefined;
  try {
    const server = await start();
    noteStart(background, false);
    return server;
  } catch (thrown) {
    noteStart(background, true);
    throw thrown;
  }
}
