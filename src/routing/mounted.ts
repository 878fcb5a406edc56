import type { Rest } from "../inputs/dep.ts";
import { withReader } from "../inputs/parameter.ts";
import type { Segment } from "./path.ts";
import type { Route } from "./route.ts";

/** The end of a mount's path: everything at and below it, with empty segments too. No input reads it. */
export const mounted: Rest<"rest"> = { kind: "rest", name: "rest", reader: { from: [] } };

/** The name of the input that the framework adds to those of a mount. */
export const mountedRequest = "the mounted request";

/** All remaining segments, with empty ones: those of a site's files, whose pages answer for a path that ends with a slash too. */
export function restWithEmpty<const Name extends string>(name: Name): Rest<Name> {
  return withReader<Rest<Name>>({ kind: "rest", name, takesEmpty: true });
}

/** Whether a path's end takes empty segments. */
export function takesEmpty(segments: readonly Segment[]): boolean {
  const last = segments.at(-1);
  return typeof last === "object" && last.kind === "rest" && last.takesEmpty === true;
}

/** The method of a mount that answers every method. */
export const anyMethod = "*";

/** The methods of a route: its own, those of a mount, or {@link anyMethod}. */
export function methodsOf({ method, methods }: Pick<Route, "method" | "methods">): readonly string[] {
  return methods ?? [method];
}
