/** What the guide on TanStack Query leaves to the reader. */
export { skipToken } from "@tanstack/query-core";
export { RefusedError, infiniteOptions, queryOptions } from "usher-http/tanstack-query";
export type { Problem, Refused } from "usher-http";
