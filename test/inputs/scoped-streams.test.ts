/** `Dep.scoped` of a route whose answer is a stream: its values are released when the producer of the stream has ended. */
import { describe, expect, it } from "vitest";
import { Answer, App, Broadcast, Dep, Event, Path, Returns, Test, get } from "usher-http";
import { gate } from "../support/gate.ts";

/** A scoped input that records its events. */
function noted(name: string, log: string[]): Dep<string> {
  return Dep.scoped(
    {},
    () => {
      log.push(`acquire ${name}`);
      return name;
    },
    (value, end) => void log.push(`release ${value} ${end.how} ${end.status} ${end.code ?? "-"}`),
  );
}

const word = Event.text("word");

describe("the values of a stream are released when it has ended", () => {
  it("after its last part", async () => {
    const log: string[] = [];
    const route = get(Path.of("x"), { inputs: { a: noted("a", log) }, returns: Returns.response }, () => {
      async function* parts() {
        log.push("first");
        yield new TextEncoder().encode("a");
        log.push("last");
      }
      return Answer.stream(parts(), { contentType: "text/plain" });
    });
    await Test.call(Test.app([route]), "GET", "/x");
    expect(log).toEqual(["acquire a", "first", "last", "release a answered 200 -"]);
  });

  it.each(["a generator", "a producer of events"])(
    "and not before %s notices that its client has disconnected",
    async (what) => {
      const log: string[] = [];
      const [waits, ready] = [gate(), gate()];
      const inputs = { a: noted("a", log) };
      const use = async (): Promise<void> => {
        waits.open();
        await ready.passed;
        log.push("used");
      };
      const app = App.make([
        what === "a generator"
          ? get(Path.of("x"), { inputs, returns: Returns.response }, () => {
              async function* parts() {
                yield new TextEncoder().encode("a");
                await use();
              }
              return Answer.stream(parts(), { contentType: "text/plain" });
            })
          : get(Path.of("x"), { inputs, returns: Returns.events([]) }, () => async (send) => {
              await send(Event.comment("a"));
              await use();
            }),
      ]);
      const reader = (await app.fetch(new Request("http://h/x"))).body?.getReader();
      await reader?.read();
      void reader?.read().catch(() => {});
      await waits.passed;
      await reader?.cancel();
      for (let i = 0; i < 10; i++) await new Promise(setImmediate);
      ready.open();
      await app.settled(60_000);
      expect(log).toEqual(["acquire a", "used", "release a client gone 200 -"]);
    },
  );

  it("also if only the release ends the producer, such as one that waits for a subscription", async () => {
    const hub = Broadcast.create<typeof word, string>();
    const heard = Dep.scoped(
      {},
      () => hub.subscribe("t", "a"),
      (heard) => heard.unsubscribe(),
    );
    const ended = gate();
    const route = get(Path.of("x"), { inputs: { heard }, returns: Returns.events([word]) }, ({ heard }) => {
      return async (send) => {
        await send(Event.comment("a"));
        for await (const event of heard) await send(event);
        ended.open();
      };
    });
    const reader = (await App.make([route]).fetch(new Request("http://h/x"))).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await ended.passed;
    expect(hub.subscribers("t")).toEqual([]);
  });
});
