/** Helpers over routes as an application writes them, from public types alone. */
import * as v from "valibot";
import {
  Codec,
  DeclarationError,
  Dep,
  Path,
  Problem,
  Query,
  Refusal,
  Returns,
  Unreadable,
  answer,
  get,
  refuse,
} from "usher-http";
import type { Code, Handler, Inputs, Shape } from "usher-http";
import { Statement, Type } from "usher-http/postgres";

const Order = v.object({ id: v.number(), state: v.picklist(["new", "sent"]) });
const Item = v.object({ id: v.number(), name: v.string() });
const page = Query.default("page", Codec.int, 1);
const signedOut = Refusal.code("signed_out", { status: 401, doc: "Nobody.", challenge: "Bearer" });

/** A page of any shape. */
function pageOf<S extends Shape>(
  name: string,
  shape: S,
  load: Handler<{ page: typeof page }, readonly Shape.ValueOf<S>[]>,
) {
  return get(Path.of(name), { inputs: { page }, returns: Returns.json(v.array(shape)) }, load);
}
pageOf("items", Item, ({ page }) => [{ id: page, name: "pen" }]);
pageOf("items", Item, async ({ page }) => [{ id: page, name: "pen" }]);
// @ts-expect-error a member of another type
pageOf("items", Item, ({ page }) => [{ id: page, name: 1 }]);
// @ts-expect-error an input that the helper does not declare
pageOf("items", Item, ({ size }) => [{ id: size, name: "pen" }]);

/** A route of text with any inputs, which refuses those who are signed out. */
function guarded<const I extends Inputs>(
  name: string,
  inputs: I,
  handler: Handler<I, string, readonly [typeof signedOut]>,
) {
  return get(Path.of(name), { inputs, returns: Returns.text, refuses: [signedOut] }, handler);
}
guarded("mine", { page }, ({ page }) => (page > 1 ? refuse(signedOut) : page.toFixed()));
// @ts-expect-error a refusal that the helper does not declare
guarded("mine", { page }, () => refuse(Refusal.notFound));

/** The same at any path. */
export const guardedAt = <const I extends Inputs>(path: Path, inputs: I, handler: Handler<I, string>) =>
  get(path, { inputs, returns: Returns.text }, handler);

/** The value of an input, the answer of a `Returns` and the row of a statement. */
const range = Dep.join({ page }, ({ page }) =>
  page < 1 ? new Problem("query.page", "too_small", "This must be at least 1.") : { offset: page * 20, limit: 20 },
);
export const first: Dep.ValueOf<typeof range> = { offset: 0, limit: 20 };
export const none: Dep.ValueOf<ReturnType<typeof maybe>> = undefined;
const maybe = () => Query.optional("since", Codec.instant);
// @ts-expect-error a member is missing
export const wrongRange: Dep.ValueOf<typeof range> = { offset: 0 };

const returns = Returns.jsonResponse(Order, { 200: "Here.", 201: "Made." });
export const made: Returns.AnswerOf<typeof returns> = answer(201, { id: 1, state: "new" });
// @ts-expect-error a status that is not listed
export const wrongStatus: Returns.AnswerOf<typeof returns> = answer(204, { id: 1, state: "new" });

const row = { id: Type.int64, tags: Type.array(Type.text) };
const all = Statement.list("select id, tags from orders", { row });
const one = Statement.findOptional("select id, tags from orders where id = $1", { params: [Type.int64], row });
export const rows: readonly [Statement.RowOf<typeof all>, Statement.RowOf<typeof one>] = [
  { id: 1n, tags: [] },
  { id: 1n, tags: ["a"] },
];
// @ts-expect-error a statement without rows
export const noRow: Statement.RowOf<ReturnType<typeof Statement.count>> = 1;

/** What is caught. */
export function told(error: unknown): string {
  if (error instanceof DeclarationError) return error.problems.join("; ");
  if (error instanceof Unreadable) return error.end.kind;
  return "another";
}
export const codes: readonly Code[] = [signedOut];
