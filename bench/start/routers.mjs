/** The routers: usher's, and those that peers export. */
import { restRoutes } from "../apps/rest-routes.mjs";
import { importSource } from "../harness/source.mjs";

/**
 * @typedef {object} Router
 * @property {(method: string, path: string) => unknown} find Undefined for a miss.
 * @property {((path: string) => unknown) | undefined} [allowedMethods] What a miss still tries: the routes of other methods.
 */

/** @type {Readonly<Record<string, { name: string, make: (count: number) => Promise<Router> }>>} */
export const routers = {
  usher: {
    name: "usher",
    async make(count) {
      const { Router } = await importSource("src/routing/router.ts");
      const { tableRoutes } = await import("../apps/usher.mjs");
      const router = new Router();
      for (const route of tableRoutes(count)) router.add(route.method, route.path, route);
      return router;
    },
  },
  hono: {
    name: "Hono, its choice",
    async make(count) {
      const { tableApp } = await import("../apps/hono.mjs");
      const { router } = tableApp(count);
      return { find: (method, path) => (router.match(method, path)[0].length === 0 ? undefined : true) };
    },
  },
  map: {
    name: "`Map` of segments, by hand",
    async make(count) {
      const root = new Map();
      for (const { method, segments } of restRoutes(count)) {
        let place = root;
        for (const segment of segments) {
          const key = segment.startsWith(":") ? ":" : segment;
          if (!place.has(key)) place.set(key, new Map());
          place = place.get(key);
        }
        place.set(`/${method}`, method);
      }
      return { find: (method, path) => walk(root, `/${method}`, path) };
    },
  },
};

// The minimum of a walk by segments: no checks, no decoding, no ranks.
function walk(root, ending, path) {
  const captured = [];
  let place = root;
  for (let at = 1; at <= path.length;) {
    const slash = path.indexOf("/", at);
    const end = slash === -1 ? path.length : slash;
    const segment = path.slice(at, end);
    let next = place.get(segment);
    if (next === undefined) {
      next = place.get(":");
      if (next === undefined) return undefined;
      captured.push(segment);
    }
    place = next;
    at = end + 1;
  }
  const route = place.get(ending);
  return route === undefined ? undefined : { route, captured };
}
