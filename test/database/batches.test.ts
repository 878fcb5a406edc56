/** Batches of rows: however they end, the cursor is closed, and nothing listens to the caller's signal any more. */
import { getEventListeners } from "node:events";
import { expect, it, vi } from "vitest";
import { Batches } from "../../src/database/batches.ts";

type Rows = Batches<number>;
type Ending = readonly [
  how: string,
  outcome: unknown,
  act: (rows: Rows, controller: AbortController) => Promise<unknown>,
];
const oh = new RangeError("oh");
const done = { done: true, value: undefined };
const thrownBy = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => "nothing",
    (thrown: unknown) => thrown,
  );

const endings: readonly Ending[] = [
  ["are left early", done, (rows) => rows.return()],
  ["are ended by throw()", oh, (rows) => thrownBy(rows.throw(oh))],
  ["are read to the end", done, async (rows) => (await rows.next(), rows.next())],
  ["are ended by the signal", done, async (rows, controller) => (controller.abort(oh), rows.return())],
];

it.each(endings)("batches that %s hold no cursor", async (_how, outcome, act) => {
  const closed = vi.fn();
  async function* read(): AsyncGenerator<readonly number[], "complete"> {
    try {
      yield [1];
      yield [2];
      return "complete";
    } finally {
      closed();
    }
  }
  const controller = new AbortController();
  const rows = new Batches<number>(() => read(), controller.signal);
  expect(await rows.next()).toEqual({ done: false, value: [1] });
  expect(await act(rows, controller)).toEqual(outcome);
  // The signal closes it in the background.
  await new Promise(setImmediate);
  expect(closed).toHaveBeenCalledOnce();
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  expect(await rows.next()).toEqual(done);
});
