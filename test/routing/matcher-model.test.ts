/** The matcher compared with a naive one that implements facts 3.2: it compares every route, segment by segment. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { Codec, Path, Result } from "usher-http";
import type { Segment } from "../../src/routing/path.ts";
import { decodeSegment } from "../../src/http/target.ts";
import { Router } from "../../src/routing/router.ts";
import { rounds } from "../support/wide.ts";

interface Row {
  readonly method: string;
  readonly segments: readonly Segment[];
}

const reads = (kind: string, pattern: RegExp) =>
  Codec.custom<string>({
    kind,
    parse: (text) => (pattern.test(text) ? Result.ok(text) : Result.error("no")),
    print: String,
  });
const declining = [reads("digits", /^\d+$/), reads("even", /^\d*[02468]$/), reads("short", /^.$/)];

const segment = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("a", "b", "1", "é", "ab", "a literal of its own", "1%") },
  { weight: 2, arbitrary: fc.constantFrom("x", "y").map((name) => Path.str(name)) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(...declining).map((codec) => Path.param("d", codec, { unparsed: "next-route" })),
  },
);
const row: fc.Arbitrary<Row> = fc
  .record({
    method: fc.constantFrom("GET", "POST", "PUT"),
    segments: fc.array(segment, { maxLength: 4 }),
    open: fc.integer({ min: 0, max: 3 }),
  })
  .map(({ method, segments, open }) => ({ method, segments: open === 0 ? [...segments, Path.rest("r")] : segments }));
const path = fc
  .array(
    fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom("a", "a", "b", "1", "2", "12", "%61", "%C3%A9", "é", "%zz", "x", "") },
      { weight: 3, arbitrary: fc.constantFrom("ab", "aab", "a%20literal%20of%20its%20own", "1%", "1%25", "1%zz") },
    ),
    { maxLength: 5 },
  )
  .map((segments) => `/${segments.join("/")}`);

/** The parameters that a route takes from a path, in order; undefined if it does not match. */
function taken({ segments }: Row, path: string): readonly string[] | undefined {
  const parts = path === "/" ? [] : path.slice(1).split("/");
  const open = isRest(segments.at(-1));
  const fixed = open ? segments.slice(0, -1) : segments;
  if (open ? parts.length < fixed.length : parts.length !== fixed.length) return undefined;
  if (parts.includes("")) return undefined;
  const captured: string[] = [];
  for (const [i, segment] of fixed.entries()) {
    const part = parts[i] as string;
    const text = decodeSegment(part);
    if (typeof segment === "string") {
      if (text !== segment) return undefined;
      continue;
    }
    if (segment.kind === "param" && segment.declines && (text === undefined || !segment.codec.parse(text).ok))
      return undefined;
    captured.push(part);
  }
  return open ? [...captured, parts.slice(fixed.length).join("/")] : captured;
}

function isRest(segment: Segment | undefined): boolean {
  return typeof segment === "object" && segment.kind === "rest";
}

function ranks({ segments }: Row): readonly number[] {
  return segments.map((segment) =>
    typeof segment === "string" ? 2 : segment.kind === "rest" ? -1 : segment.declines ? 1 : 0,
  );
}

function better(a: Row, b: Row): number {
  const left = ranks(a);
  const right = ranks(b);
  const at = left.findIndex((rank, i) => rank !== right[i]);
  return at === -1 ? 0 : (right[at] as number) - (left[at] as number);
}

/** The route that answers. Of equal routes it is the first listed, as a stable sort keeps their order. */
function naive(rows: readonly Row[], method: string, path: string): Row | undefined {
  const answering = rows.filter((row) => taken(row, path) !== undefined);
  const named = answering.filter(({ segments }) => !isRest(segments.at(-1)));
  const asked = (named.length > 0 ? named : answering).filter((row) => row.method === method);
  return asked.toSorted(better)[0];
}

it("finds the route that a naive matcher finds, and lists the same methods in Allow", () => {
  const tables = fc.array(row, { minLength: 1, maxLength: 9 });
  fc.assert(
    fc.property(tables, fc.array(path, { minLength: 1, maxLength: 4 }), (rows, paths) => {
      const table = new Router<Row>();
      for (const row of rows) table.add(row.method, Path.of(...row.segments), row);
      const methods = [...new Set(rows.map(({ method }) => method))];
      expect(table.methods).toEqual(methods);
      for (const path of paths) {
        for (const method of methods) {
          const expected = naive(rows, method, path);
          const found = table.find(method, path);
          expect(found?.route, `${method} ${path}`).toBe(expected);
          if (expected !== undefined) expect(found?.captured).toEqual(taken(expected, path));
        }
        const allow = methods.filter((method) => naive(rows, method, path) !== undefined);
        const listed = allow.includes("GET") ? [...allow, "HEAD"] : allow;
        expect(table.allowedMethods(path)).toEqual(allow.length === 0 ? undefined : listed);
      }
    }),
    { numRuns: rounds(3000) },
  );
});
