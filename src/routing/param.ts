import { isSegment, needs } from "../arguments.ts";
import type { AnyDep, AnyParam, Dep, DepNode, Param, PathWire, Rest } from "../inputs/dep.ts";
import { mounted } from "./mounted.ts";
import type { Segment } from "./path.ts";

/** The sentence of the compiler's error for the name of a parameter. */
export type ParamAdvice = "Give the parameter of the path itself: const id = Path.int(name).";

/**
 * The value of a path parameter. A segment that does not parse is a 400 at `path.<name>`, even if no input reads it. It must
 * be the very parameter that the path was made with: `App.make` refuses another one of the same name.
 */
export function param<Name extends string, A, S = unknown>(
  parameter: Param<Name, A, S>,
): Dep<A, never, PathWire<Param<Name, A, S>>>;
export function param<Name extends string>(
  parameter: Rest<Name> | ParamAdvice,
): Dep<readonly string[], never, PathWire<Rest<Name>>>;
export function param(parameter: AnyParam | Rest | ParamAdvice): Dep<never, never, never> {
  needs(typeof parameter !== "string" && isSegment(parameter), "param: it", parameter, "a parameter of Path");
  return { node: (parameter as AnyParam | Rest).reader };
}

/** The parameters of a path that no input reads. */
export function unreadOf(segments: readonly Segment[], read: readonly DepNode[]): readonly (AnyParam | Rest)[] {
  return segments
    .filter((segment) => typeof segment === "object")
    .filter((parameter) => {
      return !read.some(({ need }) => need?.in === "path" && need.parameter === parameter);
    });
}

/** Checks for the path parameters that a route does not read. A parameter that declines was parsed when its route was found. */
export function checksOf(segments: readonly Segment[], read: readonly DepNode[]): readonly AnyDep[] {
  return unreadOf(segments, read).flatMap((parameter) => {
    const isChecked = parameter !== mounted && !(parameter.kind === "param" && parameter.declines);
    return isChecked ? [{ node: parameter.reader }] : [];
  });
}
