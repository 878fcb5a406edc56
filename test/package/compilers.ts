/** The compilers that the packed package is tried with, and how a newcomer's project sets them up. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { root } from "./packed.ts";

const folderOf = (from: string): string =>
  dirname(createRequire(join(root, from, "package.json")).resolve("typescript/package.json"));

/** The folders of TypeScript 5.9, which still has a language service in JavaScript, and of TypeScript 7. */
export const oldest: string = folderOf("test/package/consumer");
export const newest: string = folderOf("");

/** As `tsconfig.json` has them. */
export const compilerOptions = {
  module: "nodenext",
  target: "es2023",
  lib: ["es2023"],
  types: ["node"],
  strict: true,
  skipLibCheck: true,
  noEmit: true,
} as const;
