/** What a handler may return: literals and readonly lists as its shape has them, and what the compiler must refuse. */
import * as v from "valibot";
import { Dep, Event, Path, Refusal, Returns, Shape, answer, get, post, refuse, route } from "usher-http";
import { Statement, Type } from "usher-http/postgres";
import type { Route } from "usher-http";
import type { Pool } from "usher-http/postgres";

const at = Path.of("a");
const Ticket = v.object({ id: v.number(), state: v.picklist(["new", "sent"]) });
const State = v.picklist(["new", "sent"]);
const Settled = v.object({ settled: v.literal(true) });
const Shapely = v.variant("kind", [
  v.object({ kind: v.literal("circle"), radius: v.number() }),
  v.object({ kind: v.literal("square"), side: v.number() }),
]);
const Pair = v.tuple([v.number(), v.string()]);
const gone = Refusal.code("gone", { status: 410, doc: "It was there." });
const made = { 200: "Here.", 201: "Made." } as const;

// Literals.
get(at, { returns: Returns.json(Ticket) }, () => ({ id: 1, state: "new" }));
get(at, { returns: Returns.json(Ticket) }, async () => ({ id: 1, state: "new" }));
get(at, { returns: Returns.json(Ticket), refuses: [gone] }, async () => {
  const id = await Promise.resolve(1);
  if (id > 1) return refuse(gone);
  if (id > 0) return { id, state: "sent" };
  return { id, state: "new" };
});
get(at, { returns: Returns.json(Ticket) }, () => ({ id: 1, state: Date.now() > 0 ? "new" : "sent" }));
get(at, { returns: Returns.json(State) }, () => "new");
get(at, { returns: Returns.json(State) }, async () => "new");
get(at, { returns: Returns.json(State) }, async () => {
  await Promise.resolve();
  return "sent";
});
get(at, { inputs: { id: Dep.return(1) }, returns: Returns.json(State) }, async ({ id }) => {
  void id;
  return "sent";
});
get(at, { returns: Returns.json(v.nullable(State)), refuses: [gone] }, async () => "new");
get(at, { returns: Returns.json(v.literal(1)) }, async () => 1);
get(at, { returns: Returns.json(v.literal(true)) }, async () => true);
get(at, { returns: Returns.json(v.literal(false)) }, async () => false);
route("LINK", at, { returns: Returns.json(State) }, async () => "new");
get(at, { returns: Returns.json(Settled) }, () => ({ settled: true }));
get(at, { returns: Returns.json(v.literal(1)) }, () => 1);
get(at, { returns: Returns.json(Shapely) }, () => ({ kind: "circle", radius: 1 }));
get(at, { returns: Returns.json(Shapely) }, async () => {
  if (Date.now() > 0) return { kind: "circle", radius: 1 };
  return { kind: "square", side: 1 };
});
get(at, { returns: Returns.json(Pair) }, () => [1, "one"]);
get(at, { returns: Returns.json(v.object({ pair: Pair, day: Shape.date })) }, () => ({
  pair: [1, "one"],
  day: [2026, 9, 30],
}));
get(at, { returns: Returns.json(v.array(Ticket)) }, () => [{ id: 1, state: "new" }]);
get(at, { returns: Returns.json(v.record(v.string(), Ticket)) }, () => ({ a: { id: 1, state: "new" } }));
get(at, { returns: Returns.json(v.nullable(Ticket)) }, () => null);
get(at, { returns: Returns.json(v.object({ note: v.optional(v.picklist(["a", "b"])) })) }, () => ({ note: "a" }));
post(at, { returns: Returns.jsonResponse(Ticket, made) }, () => answer(201, { id: 1, state: "new" }));
post(at, { returns: Returns.jsonResponse(Ticket, made), refuses: [gone] }, async () => {
  if (Date.now() > 0) return refuse(gone);
  return Date.now() > 1 ? answer(200, { id: 1, state: "sent" }) : answer(201, { id: 1, state: "new" });
});
post(at, { returns: Returns.jsonResponse(Shapely, made) }, () => answer(200, { kind: "square", side: 1 }));
post(at, { returns: Returns.jsonResponse(Pair, made) }, () => answer(200, [1, "one"]));
post(at, { returns: Returns.jsonResponse(Settled, made) }, async () => answer(200, { settled: true }));
post(at, { returns: Returns.emptyResponse(made) }, () => answer(201));

// A value that is only written may be readonly, in depth.
const Listed = v.object({ items: v.array(v.object({ id: v.number(), tags: v.array(v.string()) })), total: v.number() });
const list = Statement.list("select id, tags from orders", { row: { id: Type.int, tags: Type.array(Type.text) } });
const pool = Dep.ofResource<Pool>("pool");
get(at, { inputs: { pool }, returns: Returns.json(Listed) }, async ({ pool }) => ({
  items: await pool.exec(list),
  total: 1,
}));
post(at, { inputs: { pool }, returns: Returns.jsonResponse(Listed, made) }, async ({ pool }) =>
  answer(200, { items: await pool.exec(list), total: 1 }),
);
declare const frozen: {
  readonly items: readonly { readonly id: number; readonly tags: readonly string[] }[];
  readonly total: number;
};
get(at, { returns: Returns.json(Listed) }, () => frozen);
get(at, { returns: Returns.json(v.array(Pair)) }, () => [[1, "one"]] as const);
Returns.json(Listed, { examples: [frozen] });
Event.make(Event.json("listed", Listed), frozen);

// A helper over any shape.
function stored<S extends Shape>(name: string, shape: S, load: () => Promise<Shape.ValueOf<S>>) {
  const declared = { returns: Returns.json(shape), refuses: [Refusal.notFound] } as const;
  return get(Path.of(name), declared, async () => (await load()) ?? refuse(Refusal.notFound));
}
function remade<S extends Shape>(name: string, shape: S, load: () => Promise<Shape.ValueOf<S>>) {
  return get(Path.of(name), { returns: Returns.jsonResponse(shape, made) }, async () => answer(200, await load()));
}
function paged<S extends Shape>(name: string, shape: S, load: () => Promise<readonly Shape.ValueOf<S>[]>) {
  return get(Path.of(name), { returns: Returns.json(v.array(shape)) }, async () => load());
}
function passed<S extends Shape>(name: string, shape: S, load: () => Promise<Shape.ValueOf<S>>) {
  return get(Path.of(name), { returns: Returns.json(shape) }, load);
}
void [stored, remade, paged, passed];
export function wrong<S extends Shape>(shape: S): S {
  // @ts-expect-error a value of another type, whatever the shape
  get(at, { returns: Returns.json(shape) }, () => ({ id: 1 }));
  // @ts-expect-error a refusal that is not declared, whatever the shape
  get(at, { returns: Returns.json(shape) }, () => refuse(gone));
  // @ts-expect-error a value of another type under a status
  get(at, { returns: Returns.jsonResponse(shape, made) }, () => answer(200, { id: 1 }));
  return shape;
}

// @ts-expect-error a word that is none of them
get(at, { returns: Returns.json(Ticket) }, () => ({ id: 1, state: "lost" }));
// @ts-expect-error a word that is none of them, awaited
get(at, { returns: Returns.json(Ticket) }, async () => ({ id: 1, state: "lost" }));
// @ts-expect-error a word that is none of them, awaited and bare
get(at, { returns: Returns.json(State) }, async () => "lost");
// @ts-expect-error any text in place of a word, awaited and bare
get(at, { returns: Returns.json(State) }, async () => String(1));
// @ts-expect-error a bare word of another type
get(at, { returns: Returns.json(State) }, async () => 1);
// @ts-expect-error a refusal that is not declared, where the answer is a bare word
get(at, { returns: Returns.json(State) }, async () => refuse(gone));
// @ts-expect-error any text in place of a word
get(at, { returns: Returns.json(Ticket) }, () => ({ id: 1, state: String(1) }));
// @ts-expect-error another literal
get(at, { returns: Returns.json(Settled) }, () => ({ settled: false }));
// @ts-expect-error a member is missing
get(at, { returns: Returns.json(Ticket) }, () => ({ id: 1 }));
// @ts-expect-error a member of another type
get(at, { returns: Returns.json(Ticket) }, () => ({ id: "1", state: "new" }));
// @ts-expect-error members of another kind
get(at, { returns: Returns.json(Shapely) }, () => ({ kind: "circle", side: 1 }));
// @ts-expect-error a tuple with too few
get(at, { returns: Returns.json(Pair) }, () => [1]);
// @ts-expect-error a tuple of other types
get(at, { returns: Returns.json(Pair) }, () => ["one", 1]);
// @ts-expect-error a list with one that does not fit
get(at, { returns: Returns.json(v.array(Ticket)) }, () => [{ id: 1, state: "new" }, { id: 2 }]);
// @ts-expect-error a member of another type under a status
post(at, { returns: Returns.jsonResponse(Ticket, made) }, () => answer(201, { id: 1, state: "lost" }));
// @ts-expect-error a member is missing under a status
post(at, { returns: Returns.jsonResponse(Ticket, made) }, () => answer(201, { id: 1 }));
// @ts-expect-error a status the route does not list
post(at, { returns: Returns.jsonResponse(Ticket, made) }, () => answer(202, { id: 1, state: "new" }));
// @ts-expect-error no value under a status that has one
post(at, { returns: Returns.jsonResponse(Ticket, made) }, () => answer(201));
// @ts-expect-error a status of an empty answer with a value
post(at, { returns: Returns.emptyResponse(made) }, () => answer(201, { id: 1 }));
// @ts-expect-error nothing where there is a value
get(at, { returns: Returns.json(Ticket) }, () => {});
// @ts-expect-error a refusal that the route does not declare, next to a literal
get(at, { returns: Returns.json(Ticket) }, () => (Date.now() > 0 ? { id: 1, state: "new" } : refuse(gone)));
// @ts-expect-error a value where the route is empty
get(at, { returns: Returns.empty() }, () => 1);
// @ts-expect-error a list of other members
get(at, { returns: Returns.json(Listed) }, () => ({ items: [{ id: 1, tags: [1] }], total: 1 }));
// @ts-expect-error a list under another name
get(at, { returns: Returns.json(Listed) }, () => ({ rows: frozen.items, total: 1 }));

// @ts-expect-error a plain object with the members of a refusal
get(at, { returns: Returns.text, refuses: [gone] }, () => ({
  code: gone,
  message: "",
  headers: [],
  problems: [],
  more: 0,
}));
// @ts-expect-error a refusal that an input does not declare
Dep.ofRequest(async () => refuse(gone));
// @ts-expect-error a refusal that a body does not declare
Dep.ofBody({ contentTypes: ["text/plain"] }, () => refuse(gone));
// @ts-expect-error a refusal of `Dep.map`
Dep.map(Dep.return(1), (n) => (n > 0 ? refuse(gone) : n));
// A declared type does not declare the codes.
// @ts-expect-error a refusal that the route does not declare
export const declared: Route = get(at, { returns: Returns.text }, () => refuse(gone));
export const typed: Dep.Dep<number> = Dep.join({ n: Dep.return(1) }, ({ n }) => n);
