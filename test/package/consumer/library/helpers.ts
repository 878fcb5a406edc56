/** Helpers whose types are not known until they are called, and the makers of routes under names of one's own. */
import { Path, Query, Codec, Refusal, Returns, get, json, param, post } from "usher-http";
import type { Handler, Inputs, Shape } from "usher-http";
import * as v from "valibot";

const id = Path.int("id");
const page = Query.default("page", Codec.int, 1);

export const read = get;
export const makers = { get, post } as const;

/** A page of any shape. */
export function pageOf<S extends Shape>(shape: S, load: Handler<{ page: typeof page }, readonly Shape.ValueOf<S>[]>) {
  return get(Path.of("items"), { inputs: { page }, returns: Returns.json(v.array(shape)) }, load);
}

/** A value of any shape, as it was sent. */
export function stored<S extends Shape>(shape: S, load: () => Promise<Shape.ValueOf<S>>) {
  const inputs = { id: param(id), body: json(shape) };
  return post(Path.of("items", id), { inputs, returns: Returns.json(shape) }, load);
}

/** Any inputs. */
export function guarded<const I extends Inputs>(inputs: I, handler: Handler<I, string>) {
  return get(Path.of("guarded"), { inputs, returns: Returns.text, refuses: [Refusal.notFound] }, handler);
}

/** Any inputs at any path. */
export const guardedAt = <const I extends Inputs>(path: Path, inputs: I, handler: Handler<I, string>) =>
  get(path, { inputs, returns: Returns.text }, handler);

/** Any answer. */
export function answering<const I extends Inputs, A extends {}, Sent, Status extends number>(
  inputs: I,
  returns: Returns<A, Sent, Status>,
  handler: Handler<I, A>,
) {
  return get(Path.of("answering"), { inputs, returns }, handler);
}

/** What they make. */
export const made = guarded({ page }, ({ page }) => page.toFixed());
export const state = get(Path.of("state"), { returns: Returns.json(v.picklist(["new", "sent"])) }, async () => "new");
