/** `usher bundle`, and a site of the module that it writes. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, it } from "vitest";
import { App } from "usher-http";
import { Files } from "usher-http/files";
import type { BundledFiles } from "usher-http/files";
import { run } from "../../cli/run.ts";

const folder = mkdtempSync(join(tmpdir(), "usher-cli-bundle-"));
afterAll(() => rmSync(folder, { recursive: true }));
const dist = join(folder, "dist");
const every = Uint8Array.from({ length: 256 }, (_, i) => i);
const files: BundledFiles = {
  "index.html": "<!doctype html>\r\n<script>`${'\"\\</script>\u2028 é 😀",
  "bytes.bin": every,
  "nul.txt": "a\0b",
  "bom.txt": "\uFEFFtext",
  "empty.txt": "",
  "a/b/c d.txt": "below",
  ["__proto__"]: "a member",
  ".env": "SECRET",
};
for (const [path, content] of Object.entries(files)) {
  mkdirSync(join(dist, path, ".."), { recursive: true });
  writeFileSync(join(dist, path), content as string);
}

async function usher(...args: string[]) {
  let [out, error] = ["", ""];
  const code = await run(args, { out: (text) => void (out += text), error: (text) => void (error += text) });
  return { code, out, error };
}

it("writes a module that has every file except hidden ones, byte by byte", async () => {
  const module = join(folder, "site.ts");
  expect(await usher("bundle", dist, "-o", module)).toEqual({ code: 0, out: `${module}\n`, error: "" });
  // As JavaScript too: it has no types.
  const text = readFileSync(module, "utf8");
  writeFileSync(join(folder, "site.mjs"), text);
  expect(text).not.toContain("SECRET");
  const { site } = (await import(/* @vite-ignore */ pathToFileURL(join(folder, "site.mjs")).href)) as {
    readonly site: BundledFiles;
  };
  const app = App.make(Files.bundle(site));
  for (const [path, content] of Object.entries(files).slice(0, -1)) {
    const response = await app.fetch(new Request(`http://localhost/${encodeURI(path)}`));
    const bytes = Buffer.from(await response.arrayBuffer());
    expect([path, response.status, bytes]).toEqual([path, 200, Buffer.from(content as string)]);
  }
  expect(await usher("bundle", dist, "--check", module)).toEqual({ code: 0, out: "", error: "" });
  writeFileSync(join(dist, "empty.txt"), "x".repeat(5000));
  const checked = await usher("bundle", dist, "--check", module);
  expect(checked).toMatchObject({ code: 1, error: expect.stringContaining("generate it again") });
  expect(checked.out).toContain('+   "empty.txt": "xxx');
  expect(checked.out.length).toBeLessThan(300);
});

it("ends with 1 and prints the reason when a folder cannot be a module", async () => {
  expect(await usher("bundle", join(folder, "nothing"))).toMatchObject({
    code: 1,
    error: expect.stringMatching(/^usher bundle: .*nothing is not a directory\n$/),
  });
  expect(await usher("bundle", dist, "--max-bytes", "9")).toMatchObject({
    code: 1,
    error: expect.stringMatching(/^usher bundle: .* is past the 9 bytes of --max-bytes/),
  });
  expect((await usher("bundle", dist, "--dotfiles", ".env")).out).toContain('".env": "SECRET"');
  expect(await usher("bundle", dist, "--dotfiles", "env")).toMatchObject({
    code: 1,
    error: expect.stringMatching(/^usher bundle: dotfiles: "env" is not the name of a hidden file/),
  });
});

it.each([
  [[], /the folder is missing/],
  [["a", "b"], /give one folder, not 2/],
  [["a", "--max-bytes", "1e3"], /--max-bytes must be a whole number, not 1e3/],
])("ends with 2 for the arguments %j", async (args, said) => {
  expect(await usher("bundle", ...args)).toMatchObject({ code: 2, error: expect.stringMatching(said) });
});
