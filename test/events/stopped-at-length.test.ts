/** A runtime that stops reading a body once it has all bytes of its length: whether more follows is looked at all the same. */
import { expect, it } from "vitest";
import { OpenStream } from "../../src/events/open-stream.ts";
import { PulledStream } from "../../src/events/readable.ts";

const noop = (): void => {};

async function* parts(texts: readonly string[], fails: boolean): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield new TextEncoder().encode(text);
  if (fails) throw new RangeError("oh");
}

it.each<readonly [what: string, texts: readonly string[], fails: boolean, how: string]>([
  ["nothing", ["abc"], false, "finished"],
  ["an empty part", ["abc", ""], false, "finished"],
  ["more", ["abc", "d"], false, "long"],
  ["a failure", ["abc"], true, "finished"],
])("behind the last byte of the length comes %s", async (_what, texts, fails, how) => {
  const ends: string[] = [];
  const stream = new OpenStream({ kind: "stream", parts: parts(texts, fails), length: 3 });
  const pulled = new PulledStream(stream, {
    stopsAtLength: true,
    making: noop,
    made: noop,
    cancelled: () => "client gone",
    ended: (end) => void ends.push(end),
  });
  const reader = pulled.readable.getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe("abc");
  await reader.cancel();
  await new Promise(setImmediate);
  expect(ends).toEqual([how]);
});
