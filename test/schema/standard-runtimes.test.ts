/** Schemas of other libraries than Valibot on each runtime, by its own server. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { bundle, start } from "../adapters/workers/running.ts";
import { programRuntimes, runtimes } from "../support/runtimes.ts";

const program = join(import.meta.dirname, "program.mjs");
const deno = ["run", "--no-config", "--node-modules-dir=manual", "--allow-read", "--allow-env", "--allow-net"];
// The paths of tsconfig.json lead Bun to the source.
const bun = ["--tsconfig-override", join(import.meta.dirname, "../../examples/tsconfig.json")];
const flags: { readonly [runtime: string]: readonly string[] } = { bun, deno };

const whole = [200, '{"at":"2026-09-30T12:00:00.000Z","name":"Kim"}'];
const both = { isAlike: true, wrong: ["body.at", "body.name"], none: 400, leaks: false };

describe("bodies and answers by other libraries", () => {
  it.each(programRuntimes)("are validated on %s, two concurrently", async (runtime) => {
    const { stdout } = await promisify(execFile)(runtimes[runtime](), [...(flags[runtime] ?? []), program], {
      cwd: import.meta.dirname,
    });
    expect(JSON.parse(stdout)).toEqual({
      zod: { one: whole, ...both },
      awaited: { one: [200, "Kim"], ...both },
      arktype: { one: whole, ...both },
      effect: { one: whole, ...both, wrong: ["body.name"] },
    });
  });

  it("are validated by a Worker, which cannot generate code", async () => {
    const contents = `
      import { Path, Returns, json, post } from "usher-http";
      import { worker } from "../../../adapters/workers/index.ts";
      import * as z from "zod";
      const Name = z.object({ name: z.string().refine(async (name) => name !== "s3cret", "Taken.") });
      const Length = z.object({ name: z.string().transform((name) => name.length) });
      const body = json(Name);
      export default worker([post(Path.of("names"), { inputs: { body }, returns: Returns.json(Length) }, ({ body }) => body)]);`;
    const { client } = await start(await bundle({ contents }));
    const ask = async (body: string) => {
      const head = `POST /names HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
      return (await client()).send(head + body).answer();
    };
    expect((await ask('{"name":"Kim"}')).body).toBe('{"name":3}');
    const { status, body } = await ask('{"name":"s3cret"}');
    expect([status, JSON.parse(body)]).toMatchObject([
      400,
      { problems: [{ at: "body.name", code: "custom", message: "Taken." }] },
    ]);
  });
});
