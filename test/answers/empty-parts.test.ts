/** Bodies of parts without bytes, and of very many short ones: other work gets its turn, and memory does not grow with them. */
import { describe, expect, it } from "vitest";
import { Answer, App, Path, Returns, Route, get } from "usher-http";
import { start } from "../support/node-server.ts";

/** As many would take minutes by turns of the event loop: a body that holds the loop reaches it at once. */
const limit = 100_000;

/** Makes parts of this length until a timer has fired; fails where none fires before the limit. */
class Parts {
  made = 0;
  isHolding = true;
  hasEnded = false;
  readonly #part: () => Uint8Array;

  constructor(length: number) {
    this.#part = () => new Uint8Array(length);
  }

  get next(): Uint8Array | undefined {
    if (this.made++ === 0) setTimeout(() => (this.isHolding = false), 1);
    if (this.made > limit) throw new Error("no timer fired");
    return this.isHolding ? this.#part() : undefined;
  }

  stream(): ReadableStream<Uint8Array> {
    return new ReadableStream({
      pull: (controller) => {
        const part = this.next;
        if (part === undefined) controller.close();
        else controller.enqueue(part);
      },
      cancel: () => {
        this.hasEnded = true;
      },
    });
  }

  async *generator(): AsyncGenerator<Uint8Array> {
    for (let part = this.next; part !== undefined; part = this.next) yield part;
  }
}

const returns = Returns.response;
const kinds: { readonly [kind: string]: (parts: Parts) => Route } = {
  "of a mount": (parts) => Route.mount(Path.of("a"), () => new Response(parts.stream())),
  "of Answer.pass": (parts) => get(Path.of("a"), { returns }, () => Answer.pass(new Response(parts.stream()))),
  "of a bare Response": (parts) => get(Path.of("a"), { returns }, () => new Response(parts.stream())),
  "of a generator": (parts) => get(Path.of("a"), { returns }, () => Answer.stream(parts.generator())),
};

describe.each(Object.keys(kinds))("a body %s", (kind) => {
  const routeOf = kinds[kind] as (parts: Parts) => Route;

  it.each([
    ["Node", 0],
    ["Node", 1],
    ["app.fetch", 0],
    ["app.fetch", 1],
  ])("on %s, whose parts of %i bytes are there at once, lets timers fire", async (where, length) => {
    const parts = new Parts(length);
    const route = routeOf(parts);
    const answer =
      where === "Node"
        ? await fetch(`http://127.0.0.1:${(await start([route])).port}/a`)
        : await App.make([route]).fetch(new Request("http://h/a"));
    expect(answer.status).toBe(200);
    const body = await answer.arrayBuffer();
    expect(parts.made).toBeLessThan(limit);
    expect(body.byteLength).toBe(length * (parts.made - 1));
  });
});

it("a part whose bytes other code has taken is an empty one", async () => {
  const taken = new Uint8Array(4);
  structuredClone(taken.buffer, { transfer: [taken.buffer] });
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(taken);
      controller.close();
    },
  });
  const { port } = await start([Route.mount(Path.root, () => new Response(body))]);
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  expect([answer.status, await answer.text()]).toEqual([200, ""]);
});
