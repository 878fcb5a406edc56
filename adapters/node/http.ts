import type * as nodeHttp from "node:http";
import process from "node:process";

/**
 * `node:http`, whose types others import. An `import` of its values would also load Node's `fetch`, which is 35 ms of processor
 * time on Node 22 and newer: a third of a small server's start.
 */
export const http: typeof nodeHttp = process.getBuiltinModule("node:http");

/** The phrases of statuses: RFC 9110's, where Node has older ones. */
export const phrases: { readonly [status: number]: string } = {
  ...http.STATUS_CODES,
  413: "Content Too Large",
  422: "Unprocessable Content",
};
