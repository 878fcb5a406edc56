import type { Rest } from "../inputs/dep.ts";
import type { Route } from "./route.ts";

/** The end of a mount's path: everything at and below it, with empty segments too. */
export const mounted: Rest<"rest"> = { kind: "rest", name: "rest" };

/** The name of the input that the framework adds to those of a mount. */
export const mountedRequest = "the mounted request";

/** The method of a mount that answers every method. */
export const anyMethod = "*";

/** The methods of a route: its own, those of a mount, or {@link anyMethod}. */
export function methodsOf({ method, methods }: Pick<Route, "method" | "methods">): readonly string[] {
  return methods ?? [method];
}
