/** The files that `usher dev` watches. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { Changes } from "../../cli/changes.ts";

const root = mkdtempSync(join(tmpdir(), "usher-changes-"));
afterAll(() => rmSync(root, { recursive: true }));

describe("a folder of watched files", () => {
  let [folder, file] = ["", ""];
  let changes = new Changes();
  beforeEach(() => {
    folder = join(mkdtempSync(join(root, "in-")), "src");
    file = join(folder, "routes.ts");
    mkdirSync(folder);
    writeFileSync(file, "one");
    changes = new Changes();
    changes.add([file]);
  });
  afterEach(() => changes.close());

  it("that is replaced by another one is a change, and the new files are watched", async () => {
    const replaced = changes.next();
    mkdirSync(`${folder}-new`);
    writeFileSync(join(`${folder}-new`, "routes.ts"), "two");
    renameSync(folder, `${folder}-old`);
    renameSync(`${folder}-new`, folder);
    await replaced;
    const saved = changes.next();
    changes.add([file]);
    writeFileSync(file, "three");
    expect(await saved).toBeUndefined();
  });

  it("that is missing is noticed when it exists again", async () => {
    const left = changes.next();
    renameSync(folder, `${folder}-away`);
    await left;
    const back = changes.next();
    // The program cannot start without it.
    changes.addAny();
    renameSync(`${folder}-away`, folder);
    expect(await back).toBeUndefined();
  });

  it("has a folder in it that a file is imported from before it exists, and then the file", async () => {
    const [outer, inner] = [join(folder, "orders"), join(folder, "orders", "parts")];
    const missing = join(inner, "new.ts");
    for (const make of [() => mkdirSync(outer), () => mkdirSync(inner), () => writeFileSync(missing, "new")]) {
      const made = changes.next();
      // The program starts, names the file and fails.
      changes.add([missing]);
      changes.addAny();
      make();
      expect(await made).toBeUndefined();
    }
  });
});
