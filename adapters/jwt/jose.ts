import { NeededPackage } from "../../src/doors/base.ts";
import type * as exported from "./jose-exports.ts";
import type * as ofPem from "./pem-exports.ts";

/** What verifies tokens, of the package `jose`. */
export type Jose = typeof exported;
/** What reads PEM files, of the package `jose`. */
export type JosePem = typeof ofPem;

export const josePackage: NeededPackage<Jose> = /* @__PURE__ */ new NeededPackage(
  "jose",
  () => import("./jose-exports.ts"),
);
export const josePem: NeededPackage<JosePem> = /* @__PURE__ */ new NeededPackage(
  "jose",
  () => import("./pem-exports.ts"),
);
