/** The rows that a server may send for a statement of the driver: as many columns as it described (PostgreSQL §54.2.3). */
import { expect, it } from "vitest";
import { ProtocolState } from "../../../adapters/postgres/protocol-state.ts";
import { message } from "../../../adapters/postgres/server-messages.ts";

const int16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
const int32 = (value: number): Buffer => Buffer.concat([int16(value >> 16), int16(value & 65_535)]);
const column = Buffer.concat([Buffer.from("c\0"), Buffer.alloc(18)]);
const columns = (count: number): Buffer[] => Array.from({ length: count }, () => column);
const nulls = (count: number): Buffer[] => Array.from({ length: count }, () => int32(-1));

/** What a server sends. */
const described = (count: number): Buffer => message("T", int16(count), ...columns(count));
const row = (count: number): Buffer => message("D", int16(count), ...nulls(count));
const noData = message("n");
const [parsed, parameters, bound] = [message("1"), message("t", int16(0)), message("2")];
const complete = message("C", Buffer.from("SELECT 1\0"));
const ready = message("Z", Buffer.from("I"));

/** A connection that is ready for its first statement. */
function started(): ProtocolState {
  const state = new ProtocolState(undefined);
  state.wrote(Buffer.alloc(0));
  for (const part of [message("R", int32(0)), ready]) state.take(part, 0, part.length);
  return state;
}

function ask(state: ProtocolState, description: Buffer, rows: readonly Buffer[]): void {
  for (const request of ["parse", "describe", "bind", "execute", "sync"] as const) state.sent(request);
  for (const part of [parsed, parameters, description, bound, ...rows, complete, ready])
    state.take(part, 0, part.length);
}

const wrong = "the server sent DataRow of another number of columns than it described";

it.each([
  ["two columns", described(2), 2, 1],
  ["one column", described(1), 1, 2],
  ["no columns", described(0), 0, 1],
  ["NoData", noData, 0, 1],
])("%s are described, and rows have as many", (_what, description, right, other) => {
  const state = started();
  ask(state, description, [row(right), row(right)]);
  expect(state.state).toBe("idle");
  expect(() => ask(state, description, [row(right), row(other)])).toThrow(wrong);
});

it("NoData after the columns of an earlier statement of the same Sync counts for its rows", () => {
  const state = started();
  for (const request of ["parse", "describe", "describe", "bind", "execute"] as const) state.sent(request);
  for (const part of [parsed, parameters, described(1), parameters, noData, bound]) state.take(part, 0, part.length);
  expect(() => state.take(row(1), 0, row(1).length)).toThrow(wrong);
});

it("rows of a statement that was described before are not compared with the columns of another one", () => {
  const state = started();
  ask(state, described(1), [row(1)]);
  for (const request of ["bind", "execute", "sync"] as const) state.sent(request);
  for (const part of [bound, row(2), complete, ready]) state.take(part, 0, part.length);
  expect(state.state).toBe("idle");
});
