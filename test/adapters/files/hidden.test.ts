/** Hidden files: what is sent of them, by which name, and where a symbolic link leads to one. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Route } from "usher-http";
import { Files } from "usher-http/files";
import type { DirectoryOptions } from "usher-http/files";
import { start } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";

const outside = mkdtempSync(join(tmpdir(), "usher-hidden-"));
// What is above the root is not looked at.
const root = join(outside, ".releases", "root");
const files = {
  "index.html": "page",
  "app.js": "plain",
  ".env": "SECRET",
  ".git/config": "SECRET",
  ".well-known/security.txt": "Contact: mailto:a@example.com",
  ".well-known/acme-challenge/token": "token",
  ".well-known/.env": "SECRET",
  "docs/.well-known/a.txt": "a",
  ".app/index.html": "shell",
};

beforeAll(() => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const links = {
    "to-env": ".env",
    "to-git": ".git",
    "to-link": "to-env",
    "to-absolute": join(root, ".env"),
    "out-and-in": "../root/.env",
    "to-well-known": ".well-known/security.txt",
    ".well-known/to-env": "../.env",
    ".well-known/to-git": "../.git",
    "app.js.br": ".env",
    // As Kubernetes mounts a ConfigMap.
    "mounted.txt": "..data/mounted.txt",
    "..data": "..2026_11_28_12_00_00.123456789",
  };
  for (const [path, target] of Object.entries(links)) symlinkSync(target, join(root, path));
  mkdirSync(join(root, "..2026_11_28_12_00_00.123456789"));
  writeFileSync(join(root, "..2026_11_28_12_00_00.123456789", "mounted.txt"), "mounted");
});
afterAll(() => rmSync(outside, { recursive: true }));

/** The body of a 200, or the status of another answer, of each path as it is sent. */
async function answers(routes: readonly Route[], paths: readonly string[], headers: readonly string[] = []) {
  const client = await RawClient.to((await start(routes)).port);
  const shown: Record<string, string | number> = {};
  for (const path of paths) {
    const { status, body } = await client.ask(`GET ${path}`, headers).answer();
    shown[path] = status === 200 ? body : status;
  }
  client.leave();
  return shown;
}

const assets: Readonly<Record<string, string>> = files;
const binding = {
  fetch: async (request: Request) => {
    const asset = assets[decodeURIComponent(new URL(request.url).pathname.slice(1))];
    return new Response(asset, { status: asset === undefined ? 404 : 200, headers: { "content-type": "text/plain" } });
  },
};
const sources: readonly (readonly [name: string, of: (options?: DirectoryOptions) => readonly Route[]])[] = [
  ["a directory", (options) => Files.directory(root, options)],
  ["a bundle", (options) => Files.bundle(files, options)],
  ["assets of a Worker", ({ dotfiles } = {}) => Files.assets(binding, dotfiles === undefined ? {} : { dotfiles })],
];

describe.each(sources)("of %s", (_name, of) => {
  it("`.well-known` is sent, and no other hidden name", async () => {
    const shown = {
      "/.well-known/security.txt": files[".well-known/security.txt"],
      "/.well-known/acme-challenge/token": "token",
      "/docs/.well-known/a.txt": "a",
      // The names are those of the decoded path.
      "/%2ewell%2Dknown/security.txt": files[".well-known/security.txt"],
      "/.well-known/.env": 404,
      "/.well-known/%2eenv": 404,
      "/.well-known/..%2f.env": 404,
      "/.env": 404,
      "/%2eenv": 404,
      "/.git/config": 404,
      "/%2Egit/config": 404,
      "/.WELL-KNOWN/security.txt": 404,
      "/.well-known./security.txt": 404,
      "/.well-known%20/security.txt": 404,
      "/.well-known%5csecurity.txt": 404,
      "/%252ewell-known/security.txt": 404,
      "/.well-knownx/security.txt": 404,
    };
    expect(await answers(of(), Object.keys(shown))).toEqual(shown);
  });

  it("those are sent whose names the option lists", async () => {
    const shown = { "/.env": "SECRET", "/.well-known/.env": 404, "/.git/config": 404, "/..": 404 };
    expect(await answers(of({ dotfiles: [".env"] }), Object.keys(shown))).toEqual(shown);
    const both = { "/.git/config": "SECRET", "/.well-known/.env": 404, "/.well-known/security.txt": 404 };
    expect(await answers(of({ dotfiles: [".git"] }), Object.keys(both))).toEqual(both);
    expect(await answers(of({ dotfiles: [] }), ["/.well-known/security.txt"])).toEqual({
      "/.well-known/security.txt": 404,
    });
  });
});

describe("a link in a directory", () => {
  it("to a hidden file or folder is a 404, as its own name is", async () => {
    const shown = {
      "/to-env": 404,
      "/to-git/config": 404,
      "/to-git": 404,
      "/to-link": 404,
      "/to-absolute": 404,
      "/out-and-in": 404,
      "/.well-known/to-env": 404,
      "/.well-known/to-git/config": 404,
      "/to-well-known": files[".well-known/security.txt"],
    };
    expect(await answers(Files.directory(root), Object.keys(shown))).toEqual(shown);
  });

  it("to a name that the option lists is sent", async () => {
    const shown = { "/to-env": "SECRET", "/to-link": "SECRET", "/to-git/config": 404, "/to-well-known": 404 };
    expect(await answers(Files.directory(root, { dotfiles: [".env"] }), Object.keys(shown))).toEqual(shown);
  });

  it("is no compressed file next to another, if it leads to a hidden one", async () => {
    const shown = await answers(Files.directory(root), ["/app.js"], ["Accept-Encoding: br"]);
    expect(shown).toEqual({ "/app.js": "plain" });
  });

  it("leads to the files of a Kubernetes volume", async () => {
    const shown = { "/mounted.txt": "mounted", "/..data/mounted.txt": 404 };
    expect(await answers(Files.directory(root), Object.keys(shown))).toEqual(shown);
  });
});

it("the files that an option names may be hidden", async () => {
  const app = Files.directory(root, { fallback: ".app/index.html", notFound: ".env" });
  expect(await answers(app, ["/orders/7", "/.app/index.html"])).toEqual({
    "/orders/7": "shell",
    "/.app/index.html": 404,
  });
});

describe("Files.read", () => {
  const read = join(outside, "read");
  const put = (path: string) => {
    mkdirSync(dirname(join(read, path)), { recursive: true });
    writeFileSync(join(read, path), path);
  };

  it("has `.well-known`, and the hidden files that the option lists", () => {
    for (const path of ["a.txt", ".env", ".git/config", ".well-known/a", ".well-known/.env"]) put(path);
    expect(Object.keys(Files.read(read))).toEqual([".well-known/a", "a.txt"]);
    expect(Object.keys(Files.read(read, { dotfiles: [".env"] }))).toEqual([".env", "a.txt"]);
    expect(Object.keys(Files.read(read, { dotfiles: [] }))).toEqual(["a.txt"]);
  });

  it("refuses a link to a hidden file", () => {
    symlinkSync(".env", join(read, "link"));
    expect(() => Files.read(read)).toThrow(
      "Files.read: link is a symbolic link to a hidden file: list its name in dotfiles",
    );
    expect(Object.keys(Files.read(read, { dotfiles: [".env"] }))).toContain("link");
    rmSync(join(read, "link"));
  });
});
