import type { Route } from "../routing/route.ts";
import { mounted } from "../routing/mounted.ts";
import type { MountedOperation } from "../routing/mount-doc.ts";

/** A route as the document has it. */
export interface DocumentedRoute {
  readonly route: Route;
  /** The route in the app's list. */
  readonly of: Route;
  /** What the author of a mount says of it. */
  readonly operation?: MountedOperation;
}

/** The routes of the document: each itself, and of a mount its operations. Other routes below a path have none. */
export function documentedRoutes(routes: readonly Route[]): readonly DocumentedRoute[] {
  return routes.flatMap((route): readonly DocumentedRoute[] => {
    if (route.doc !== undefined) return operationsOf(route, route.doc);
    const hasRest = route.path.segments.some((segment) => typeof segment === "object" && segment.kind === "rest");
    return hasRest ? [] : [{ route, of: route }];
  });
}

/** The operations of a mount, each as a route that answers as its author says. */
export function operationsOf(of: Route, doc: readonly MountedOperation[]): readonly DocumentedRoute[] {
  const segments = of.path.segments.filter((segment) => segment !== mounted);
  return doc.map((operation) => {
    const { method, below, summary, description, tags = [] } = operation;
    const path = [...segments, ...below];
    const texts = path.map((segment) => (typeof segment === "string" ? segment : `{${segment.name}}`));
    const pattern = `/${texts.join("/")}`;
    const route: Route = {
      ...of,
      method,
      pattern,
      path: { pattern, segments: path },
      tags: [...new Set([...of.tags, ...tags])],
      ...(summary === undefined ? {} : { summary }),
      ...(description === undefined ? {} : { description }),
    };
    return { route, of, operation };
  });
}
