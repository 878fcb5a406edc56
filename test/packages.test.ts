/** A package that the program did not install: the error says which command does. */
import { describe, expect, it } from "vitest";
import { MissingPackageError, NeededPackage, installed } from "../src/packages.ts";

const notFound = (message: string) => Object.assign(new Error(message), { code: "ERR_MODULE_NOT_FOUND" });

describe("the import of a package", () => {
  it("is what the package exports", async () => {
    expect(await installed("Some.make", "some@1", async () => "its exports")).toBe("its exports");
  });

  it.each<readonly [wanted: string, name: string, message: string]>([
    ["some@1", "some", "Cannot find package 'some' imported from /a.js"],
    ["some", "some", 'Could not resolve "some"'],
    ["@a/some@1.2", "@a/some", "Cannot find package '@a/some' imported from /a.js"],
  ])("of %s that is missing names the command", async (wanted, name, message) => {
    const cause = notFound(message);
    const thrown: unknown = await installed("Some.make", wanted, () => Promise.reject(cause)).catch((e: unknown) => e);
    expect(thrown).toBeInstanceOf(MissingPackageError);
    expect(thrown).toMatchObject({
      message: `Some.make needs the package ${name}, which is not installed: npm install ${wanted}`,
      cause,
    });
  });

  it.each<readonly [why: string, thrown: unknown]>([
    ["another package of that package", notFound("Cannot find package 'other' imported from /node_modules/some/a.js")],
    ["an error of its code", new TypeError("some")],
    ["no error at all", "some"],
  ])("of one that lacks %s is rejected with that", async (_why, thrown) => {
    await expect(installed("Some.make", "some", () => Promise.reject(thrown))).rejects.toBe(thrown);
  });
});

describe("a package that an entry needs", () => {
  it("is imported once, and is then a value", async () => {
    let imports = 0;
    const needed = new NeededPackage("some", async () => ++imports);
    expect(needed.loaded).toBe(undefined);
    needed.begin("Some.make");
    expect(await needed.load("Some.make")).toBe(needed.loaded);
    needed.begin("Some.make");
    const before = imports;
    await needed.load("Some.make");
    expect(imports).toBe(before);
  });

  // As where Jest refuses the imports of a test that has ended. An unhandled rejection would fail this test.
  it("ends no program by an error of its import, which is that of a later call", async () => {
    const thrown = new TypeError("the environment has been torn down");
    const needed = new NeededPackage("some", () => Promise.reject(thrown));
    needed.begin("Some.make");
    await expect(needed.load("Some.make")).rejects.toBe(thrown);
  });
});
