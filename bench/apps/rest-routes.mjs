/** A table as REST applications have it: ten routes for each resource, `/x/me` beside `/x/:id`. */

/** Segments that begin with a colon are parameters. */
const ofResource = [
  ["GET"],
  ["POST"],
  ["GET", "me"],
  ["GET", ":id"],
  ["PATCH", ":id"],
  ["DELETE", ":id"],
  ["GET", ":id", "items"],
  ["POST", ":id", "items"],
  ["GET", ":id", "items", ":item"],
  ["DELETE", ":id", "items", ":item"],
];

/**
 * @param {number} count A multiple of ten.
 * @returns {{ method: string, segments: string[] }[]}
 */
export function restRoutes(count) {
  const resources = Array.from({ length: count / ofResource.length }, (_, i) => `r${i}`);
  return resources.flatMap((name) => ofResource.map(([method, ...rest]) => ({ method, segments: [name, ...rest] })));
}
