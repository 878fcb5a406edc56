/** The benchmark of what is observed, with few requests: the spans that reach the collector are those of its ratio. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../package/packed.ts";

interface Section {
  readonly text: string;
  readonly series: readonly {
    readonly title: string;
    readonly groups: readonly { readonly name: string; readonly rows: readonly { readonly name: string }[] }[];
  }[];
}

const { run } = (await import(join(root, "bench/observed/index.mjs"))) as {
  readonly run: (options: object) => Promise<Section>;
};
const { candidates } = (await import(join(root, "bench/observed/candidates.mjs"))) as {
  readonly candidates: Readonly<Record<string, object>>;
};

/** OpenTelemetry's processor sends 512 spans at once; each connection of 64 also begins with a request. */
const size = { count: 60, slices: 1, warmUp: 10 };

it.each([
  { who: "usher-0", name: "usher, 0 % of spans", posts: /took 0 posts/ },
  { who: "usher-1", name: "usher, 100 % of spans", posts: /took [1-9]\d* posts/ },
])("$name", async ({ who, name, posts }) => {
  const two = { raw: candidates["raw"], [who]: candidates[who] };
  const { text, series } = await run({ quick: true, size, candidates: two });
  expect(text).toMatch(posts);
  const [cpu] = series;
  expect(cpu?.title).toBe("CPU of a request, observed, on Node");
  expect(cpu?.groups.map((group) => group.name)).toEqual(["GET /", "GET /id/7?name=x", "POST /orders"]);
  for (const { rows } of cpu?.groups ?? []) expect(rows.map((row) => row.name)).toEqual(["node:http by hand", name]);
});
