/** What is open by a credential, and ends with it: a stream that has ended takes no other one of its credential off the list. */
import { expect, it, vi } from "vitest";
import { OpenByCredential } from "../../src/inputs/validity.ts";

it("what is closed before is not ended, and what is open by the same credential is", () => {
  const open = new OpenByCredential();
  const [first, second, other] = [vi.fn(), vi.fn(), vi.fn()];
  const forget = open.listen("a", first);
  open.listen("a", second);
  open.listen("b", other);
  forget();
  open.end("a");
  expect([first, second, other].map(({ mock }) => mock.calls.length)).toEqual([0, 1, 0]);
});

it("the end of an earlier list of a credential leaves the later one", () => {
  const open = new OpenByCredential();
  const forget = open.listen("a", () => {});
  forget();
  const later = vi.fn();
  open.listen("a", later);
  forget();
  open.end("a");
  expect(later).toHaveBeenCalledOnce();
});
