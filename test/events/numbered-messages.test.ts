/** Numbered messages of several processes: a lost message is noticed (contract 2.9). */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SequenceNumbers } from "../../src/events/relay.ts";
import { codePoint } from "../support/code-point.ts";

describe("numbered messages", () => {
  const pair = () => [new SequenceNumbers(), new SequenceNumbers()] as const;

  it("are decoded as they were encoded, with any content", () => {
    const text = fc.string({ unit: codePoint });
    fc.assert(
      fc.property(text, text, (topic, wire) => {
        const [here, there] = pair();
        expect(there.read(here.event(topic, wire))).toEqual({ event: { topic, wire }, hasGap: false });
      }),
    );
  });

  it("are each delivered once, in order, and a gap is reported when one is lost", () => {
    const fates = fc.array(fc.constantFrom("comes", "is lost", "comes twice"), { maxLength: 40 });
    fc.assert(
      fc.property(fates, (fates) => {
        const [here, there] = pair();
        there.read(here.mark());
        let isLost = false;
        for (const [i, fate] of fates.entries()) {
          const message = here.event("t", `${i}`);
          if (fate === "is lost") {
            isLost = true;
            continue;
          }
          expect(there.read(message)).toEqual({ event: { topic: "t", wire: `${i}` }, hasGap: isLost });
          isLost = false;
          if (fate === "comes twice") expect(there.read(message)).toBeUndefined();
        }
        expect(there.read(here.mark())).toEqual({ event: undefined, hasGap: isLost });
      }),
    );
  });

  it("are recognized as the process's own, and ignored if they are not numbered messages", () => {
    const [here, there] = pair();
    expect([here.read(here.event("t", "w")), here.read(here.mark())]).toEqual(["own", "own"]);
    fc.assert(fc.property(fc.string(), (text) => there.read(text) === undefined));
    for (const text of [
      "0123456789abcdef",
      "0123456789abcdef 1 x",
      "0123456789abcdef 12345678901234567 1 t",
      "0123456789abcdef 1 9 t",
    ]) {
      expect(there.read(text)).toBeUndefined();
    }
  });

  it("of a new sender are no gap, also after a lost connection", () => {
    const [here, there] = pair();
    here.event("t", "lost");
    expect(there.read(here.event("t", "2"))?.valueOf()).toMatchObject({ hasGap: false });
    here.event("t", "lost");
    there.forget();
    expect(there.read(here.event("t", "4"))?.valueOf()).toMatchObject({ hasGap: false });
  });

  it("need no more memory for senders that connect and disconnect", () => {
    const there = new SequenceNumbers();
    const first = new SequenceNumbers();
    there.read(first.event("t", "1"));
    for (let i = 0; i < 1000; i++) there.read(new SequenceNumbers().mark());
    first.event("t", "lost");
    // The sender was forgotten, so this is no gap.
    expect(there.read(first.event("t", "3"))).toEqual({ event: { topic: "t", wire: "3" }, hasGap: false });
  });
});

describe("numbered messages when one could not be sent", () => {
  const pair = () => [new SequenceNumbers(), new SequenceNumbers()] as const;

  it("are a gap when the first message of a sender is the one after the message that it could not send", () => {
    const [here, there] = pair();
    here.event("t", "not sent");
    expect(there.read(here.event("t", "2"), 5000)).toMatchObject({ hasGap: false });
    expect(there.read(here.mark(9000), 8000)).toMatchObject({ hasGap: false });
    expect(there.read(here.mark(4000), 8000)).toMatchObject({ hasGap: true });
    // As if the broker received the mark, and its confirmation was lost.
    expect(there.read(here.mark(4100), 8100)).toMatchObject({ hasGap: false });
  });

  it("are one gap when the sender was known before", () => {
    const [here, there] = pair();
    there.read(here.mark(), 1000);
    here.event("t", "not sent");
    expect(there.read(here.event("t", "2"), 5000)).toMatchObject({ hasGap: true });
    expect(there.read(here.mark(4000), 16_000)).toMatchObject({ hasGap: false });
  });
});
