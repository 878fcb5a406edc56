/** The routes of a REST application: ten for each resource, `/x/me` next to `/x/:id`. */

/** A segment that begins with a colon is a parameter. */
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
