/** Paths that try to leave the directory, each also in the spellings that a proxy or a browser would send. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isWindowsName } from "../../../adapters/files/routes.ts";
import { Files } from "usher-http/files";
import { start } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";

const outside = mkdtempSync(join(tmpdir(), "usher-files-"));
const root = join(outside, "a", "root");

beforeAll(() => {
  mkdirSync(join(root, "folder"), { recursive: true });
  writeFileSync(join(root, "file.txt"), "public");
  writeFileSync(join(root, "folder", "file.txt"), "public");
  writeFileSync(join(root, ".htpasswd"), "SECRET");
  writeFileSync(join(outside, "secret.txt"), "SECRET");
  writeFileSync(join(outside, "a", "secret.txt"), "SECRET");
  writeFileSync(join(outside, "a", "root-secret.txt"), "SECRET");
});
afterAll(() => rmSync(outside, { recursive: true }));

const dots = [
  "..",
  "%2e%2e",
  ".%2e",
  "%2e.",
  "%252e%252e",
  "..%00",
  "%c0%ae%c0%ae",
  "%e0%80%ae.",
  "....",
  "..;",
  "..%20",
  "%uff0e.",
  "．．",
];
const separators = [
  "/",
  "%2f",
  "%2F",
  "\\",
  "%5c",
  "%5C",
  "//",
  "/./",
  "%252f",
  "%c0%af",
  "%ef%bc%8f",
  "/folder/../",
  "%00/",
];
const targets = ["secret.txt", "root-secret.txt", "etc/passwd", ".htpasswd"];
const climbing = dots.flatMap((dot) =>
  separators.flatMap((separator) =>
    targets.flatMap((target) => [
      `/${dot}${separator}${target}`,
      `/folder${separator}${dot}${separator}${dot}${separator}${target}`,
    ]),
  ),
);
const others = [
  "/.htpasswd",
  "/%2ehtpasswd",
  "/folder/.%2e/.htpasswd",
  "/etc/passwd",
  "//etc/passwd",
  "/%2fetc%2fpasswd",
  "/file:///etc/passwd",
  "/file%3a%2f%2f%2fetc%2fpasswd",
  "/C:/Windows/win.ini",
  "/C%3a%5cWindows%5cwin.ini",
  "/%5c%5clocalhost%5cc$%5cwin.ini",
  "/file.txt::$DATA",
  "/file.txt%00.png",
  "/file.txt%20",
  "/file.txt.",
  "/file.txt/",
  "/file.txt/.",
  "/CON",
  "/~root/.bashrc",
  "/proc/self/environ",
  "/*",
  "/?/../secret.txt",
  "/%",
  "/%zz",
  `/${"../".repeat(500)}etc/passwd`,
  `/${"a/".repeat(3000)}`,
  `/${"%2e%2e%2f".repeat(300)}etc/passwd`,
];

it("none of 700 leads out of the directory, or to a hidden file, and each is answered", async () => {
  const client = await RawClient.to((await start(Files.directory(root))).port);
  const answered = new Map<number, number>();
  const paths = [...climbing, ...others].map((path) =>
    path.replaceAll(/[^\x20-\x7e]/g, encodeURIComponent).replaceAll(" ", "%20"),
  );
  for (const path of paths) {
    const { status, body } = await client.ask(`GET ${path}`).answer();
    expect([path, body.includes("SECRET") || body.includes("root:")]).toEqual([path, false]);
    expect([path, [200, 400, 404].includes(status)]).toEqual([path, true]);
    if (status === 200) expect([path, body]).toEqual([path, "public"]);
    answered.set(status, (answered.get(status) ?? 0) + 1);
  }
  expect(paths.length).toBeGreaterThan(700);
  // The connection still works.
  expect((await client.ask("GET /folder/file.txt").answer()).body).toBe("public");
  expect(answered.get(404)).toBeGreaterThan(600);
  expect(answered.get(200) ?? 0).toBeLessThan(10);
});

it.each<readonly [what: string, names: readonly string[], isName: boolean]>([
  ["streams and drives", ["file.txt::$DATA", "file.txt:a", "C:", "C:file.txt"], false],
  ["what is dropped at the end", ["file.txt.", "file.txt ", ".env. ."], false],
  ["wildcards", ["*", "file.tx?", "FILE<", 'a"b', "a|b"], false],
  ["devices", ["CON", "nul.txt", "Aux.tar.gz", "COM1", "lpt9.log", "com¹", "CONIN$", "conout$.txt", "nul .txt"], false],
  ["short names", ["ENV~1", "GIT~1", "HTPASS~1", "INDEX~1.HTM", "AB12CD~1.X", "A~10"], false],
  [
    "names",
    [
      "file.txt",
      ".env",
      "console.js",
      "con in.txt",
      "com.js",
      "com10",
      "vendors~main.js",
      "vendors~0.js",
      "~1",
      "a~1.html",
    ],
    true,
  ],
])("on Windows %s are names of files or not: %j", (_what, names, isName) => {
  for (const name of names) expect([name, isWindowsName(name)]).toEqual([name, isName]);
});
