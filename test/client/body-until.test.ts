/** The body of a response that fails past a limit, and with its call: the platform's body is cancelled, and the call let go. */
import { expect, it, vi } from "vitest";
import { TooLarge, bodyUntil } from "../../src/client/body-until.ts";

const left = new DOMException("left", "AbortError");
const oh = new RangeError("oh");

interface Given {
  /** The parts of the platform's body, and what follows them. */
  readonly parts: readonly string[];
  readonly then: "end" | "nothing" | "failure";
  readonly isAborted?: true;
}
type Act = (response: Response, abort: () => void) => Promise<unknown>;
const read: Act = (response) => response.text().catch((thrown: unknown) => thrown);
const rows: readonly (readonly [how: string, given: Given, act: Act, outcome: unknown, isCancelled: boolean])[] = [
  ["is read", { parts: ["ab", "cd"], then: "end" }, read, "abcd", false],
  ["is longer", { parts: ["abcd", "e"], then: "nothing" }, read, new TooLarge(4), true],
  ["fails", { parts: ["ab"], then: "failure" }, read, oh, false],
  ["is cancelled", { parts: ["ab"], then: "nothing" }, async ({ body }) => body?.cancel(), undefined, true],
  ["comes after its call", { parts: ["ab"], then: "nothing", isAborted: true }, read, left, true],
  [
    "is cut by its call",
    { parts: ["ab"], then: "nothing" },
    (response, abort) => (abort(), read(response, abort)),
    left,
    true,
  ],
];

it.each(rows)("a body that %s", async (_how, { parts, then, isAborted }, act, outcome, isCancelled) => {
  const cancel = vi.fn();
  const release = vi.fn();
  const waiting = [...parts];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = waiting.shift();
      if (part !== undefined) return controller.enqueue(new TextEncoder().encode(part));
      if (then === "end") controller.close();
      else if (then === "failure") controller.error(oh);
      else return new Promise<void>(() => {});
      return undefined;
    },
    cancel,
  });
  const controller = new AbortController();
  const abort = (): void => controller.abort(left);
  if (isAborted) abort();
  const bounded = bodyUntil(new Response(body), { signal: controller.signal, abort, release }, 4);
  expect(await act(bounded, abort)).toEqual(outcome);
  expect(cancel.mock.calls.length).toBe(isCancelled ? 1 : 0);
  expect(release).toHaveBeenCalled();
});

it("a response without a body", () => {
  const release = vi.fn();
  const response = new Response(null, { status: 204 });
  expect(bodyUntil(response, { signal: new AbortController().signal, abort: () => {}, release })).toBe(response);
  expect(release).toHaveBeenCalledOnce();
});
