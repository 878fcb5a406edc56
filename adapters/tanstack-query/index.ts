/** The entry `usher-http/tanstack-query`: the calls of a typed client as queries and mutations of TanStack Query 5. */
export {
  RefusedError,
  infiniteOptions,
  mayRetry,
  mutationOptions,
  queryKey,
  queryOptions,
  withBase,
} from "./tanstack-query.ts";
export type {
  Paging,
  RouteInfiniteQuery,
  RouteMutation,
  RouteQuery,
  SkippableInfiniteQuery,
  SkippableQuery,
} from "./tanstack-query.ts";
