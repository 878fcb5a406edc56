import type * as nodeHttp from "node:http";
import process from "node:process";

/**
 * `node:http`, whose types others import. An `import` of its values would also load Node's `fetch`, which is 35 ms of processor
 * time on Node 22 and newer: a third of a small server's start.
 */
export const http: typeof nodeHttp = process.getBuiltinModule("node:http");
