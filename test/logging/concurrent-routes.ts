/** The routes of a thousand concurrent requests, on every runtime: each logs from everywhere in its work. */
import type * as Usher from "../../src/index.ts";

/** @param usher The package as the program has it: from its source, or built. */
export function routesOf({
  Answer,
  Codec,
  Log,
  Path,
  Query,
  Returns,
  body,
  get,
  post,
  requestId,
}: typeof Usher): Usher.Route[] {
  const shop = Log.source("shop");
  const text = new TextEncoder();
  const waiting: (() => void)[] = [];

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      setTimeout(resolve, ms);
    });

  /** A body of three chunks, each with a line. */
  async function* generated(say: (what: string) => void): AsyncGenerator<Uint8Array> {
    for (let part = 0; part < 3; part++) {
      await pause(part);
      say("part");
      yield text.encode("part ");
    }
  }

  const pulled = (say: (what: string) => void): ReadableStream<Uint8Array> => {
    let part = 0;
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      if (part === 3) return controller.close();
      await pause(part++);
      say("part");
      controller.enqueue(text.encode("part "));
    };
    return new ReadableStream({ pull }, { highWaterMark: 0 });
  };

  /** Answers at once, and leaves work running. */
  const outlived = (requestId: string): string => {
    const say = (what: string): void => shop.info(what, { own: requestId });
    say("handler");
    queueMicrotask(() => say("microtask"));
    setTimeout(() => say("timer"), 1);
    return requestId;
  };

  const inputs = { n: Query.required("n", Codec.int), requestId };
  return [
    get(Path.of("work"), { inputs, returns: Returns.response }, async ({ n, requestId }) => {
      const say = (what: string): void => shop.info(what, { own: requestId });
      say("handler");
      await Promise.resolve();
      say("awaited");
      await new Promise<void>((resolve) => {
        setTimeout(() => {
          say("timer");
          resolve();
        }, n % 7);
      });
      await Promise.all([
        pause(1).then(() => say("forked")),
        Log.tags({ n }, () => pause(n % 3).then(() => say("tagged"))),
      ]);
      // One request calls back for ten.
      waiting.push(Log.carry(() => say("carried")));
      if (waiting.length === 10) for (const call of waiting.splice(0)) call();
      return Answer.stream(n % 2 === 0 ? generated(say) : pulled(say));
    }),
    get(Path.of("now"), { inputs: { requestId }, returns: Returns.text }, ({ requestId }) => outlived(requestId)),
    post(Path.of("now"), { inputs: { requestId, body }, returns: Returns.text }, ({ requestId }) =>
      outlived(requestId),
    ),
  ];
}
