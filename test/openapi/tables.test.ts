/** Of any table of routes: one document, valid by OpenAPI's own schemas, or a word of which routes cannot be in one. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { Openapi } from "usher-http";
import { wrongWith } from "./official.ts";
import { anyRoutes } from "./random-routes.ts";

it("any table of routes is one valid document, in either version, or is refused by name", async () => {
  let documents = 0;
  await fc.assert(
    fc.asyncProperty(anyRoutes, async (routes) => {
      for (const openapi of ["3.2", "3.1"] as const) {
        let document: Openapi.Document;
        try {
          document = Openapi.document(routes, { openapi });
        } catch (error) {
          expect(String(error)).toMatch(/^DescriptionError: Openapi:[\s\S]* (and|is) /);
          continue;
        }
        documents++;
        expect(JSON.stringify(Openapi.document(routes, { openapi }))).toBe(JSON.stringify(document));
        expect(await wrongWith(JSON.parse(JSON.stringify(document)) as Openapi.Document)).toEqual([]);
        expect(Openapi.report(routes)).toEqual(Openapi.report(routes).toSorted());
      }
    }),
    { numRuns: 80 },
  );
  // Most tables have a document.
  expect(documents).toBeGreaterThan(40);
}, 120_000);
