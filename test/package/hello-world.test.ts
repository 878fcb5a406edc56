import { join, relative } from "node:path";
import { rolldown } from "rolldown";
import { beforeAll, describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");

const program = `
import { App, Path, Returns, get } from "${root}/src/index.ts";
export const { fetch } = App.make([get(Path.root, { returns: Returns.text }, () => "hi")]);
`;

/** The files of the source that a program has code of. */
async function filesOf(program: string): Promise<readonly string[]> {
  const entry = join(root, "program.ts");
  const bundle = await rolldown({
    input: entry,
    external: /^node:/,
    platform: "neutral",
    tsconfig: false,
    treeshake: { moduleSideEffects: false },
    plugins: [
      {
        name: "program",
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? program : undefined),
      },
    ],
  });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  const modules = Object.entries(output[0].modules);
  return modules.filter(([, { renderedLength }]) => renderedLength > 0).map(([id]) => relative(root, id));
}

/** What a program declares by a value, and the files that come with that value. */
const features: readonly { readonly feature: string; readonly files: readonly string[] }[] = [
  { feature: "a shape", files: ["src/schema/read.ts", "src/schema/write.ts"] },
  { feature: "a text or a parameter", files: ["src/inputs/parameter.ts", "src/inputs/wrong-text.ts"] },
  {
    feature: "a body",
    files: ["src/inputs/body-reading.ts", "src/inputs/body-budget.ts", "src/inputs/encoded-body.ts"],
  },
  { feature: "a policy of CORS", files: ["src/security/cors.ts"] },
  { feature: "an event stream", files: ["src/events/event-stream.ts"] },
  { feature: "a WebSocket", files: ["src/sockets/socket.ts", "src/sockets/open-socket.ts"] },
  {
    feature: "a deadline",
    files: ["src/app/deadline.ts", "src/app/late.ts", "src/app/request-deadline.ts", "src/app/time-out.ts"],
  },
  { feature: "a bound of the app", files: ["src/app/overload.ts", "src/app/bounds.ts"] },
  { feature: "a trusted proxy", files: ["src/app/proxies.ts", "src/app/trusted-proxies.ts"] },
  { feature: "another language", files: ["src/languages/index.ts"] },
];

describe("a hello world", () => {
  let files: readonly string[] = [];
  beforeAll(async () => {
    files = await filesOf(program);
  });

  it("has code of the core", () => {
    expect(files).toContain("src/app/respond.ts");
  });

  it.each(features)("has no code of $feature", ({ files: others }) => {
    expect(files.filter((file) => others.includes(file))).toEqual([]);
  });
});
